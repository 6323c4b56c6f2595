// Caches of C++ values.
#pragma once

#include "runtime/handle/typed_cache.hpp"
