// Command lines with kept results.
#pragma once

#include "runtime/action_cache.hpp"
#include "runtime/actions/action.hpp"
