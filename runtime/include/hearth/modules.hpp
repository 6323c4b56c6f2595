// Shared objects that are loaded once per process, and code that is compiled at run time.
#pragma once

#include "runtime/caches/code/code_cache.hpp"
#include "runtime/caches/modules/module_cache.hpp"
