// Shared objects that are loaded once a process, and code that is compiled at run time.
#pragma once

#include "runtime/code_cache.hpp"
#include "runtime/module_cache.hpp"
