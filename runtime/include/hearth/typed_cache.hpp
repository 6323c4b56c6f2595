// Caches of C++ values.
#pragma once

#include "runtime/typed_cache.hpp"
