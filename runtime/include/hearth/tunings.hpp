// Results of tuning: the best configurations, bundles of them, and the timings of choices.
#pragma once

#include "runtime/caches/autotune/best_config.hpp"
#include "runtime/caches/autotune/choice_timings.hpp"
#include "runtime/caches/autotune/tunings.hpp"
