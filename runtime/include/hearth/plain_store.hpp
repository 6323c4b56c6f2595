// A store without a runtime: hits and writes, no thread, no CAF.
#pragma once

#include "runtime/plain/plain_store.hpp"
