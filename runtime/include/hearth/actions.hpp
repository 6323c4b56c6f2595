// Command lines with stored results.
#pragma once

#include "runtime/actions/action.hpp"
#include "runtime/caches/actions/action_cache.hpp"
