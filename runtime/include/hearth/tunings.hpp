// What tuning found: the best configurations, bundles of them, and the timings of choices.
#pragma once

#include "runtime/autotune/best_config.hpp"
#include "runtime/autotune/choice_timings.hpp"
#include "runtime/autotune/tunings.hpp"
