// Trees of values, set and looked up by path.
#pragma once

#include "runtime/nested_cache.hpp"
