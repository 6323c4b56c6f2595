// Trees of values, set and looked up by path.
#pragma once

#include "runtime/caches/nested/nested_cache.hpp"
