// Types that all parts of the kernel tuner share. On the tuner's thread.
#pragma once

#include "actors/kernel_tuner.hpp"
#include "actors/timeouts.hpp"
#include "actors/tuning_result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hearth::actors::tuner {

using self_pointer = kernel_tuner_actor::stateful_pointer<kernel_tuner_state>;
using job_ptr = std::shared_ptr<kernel_tuner_state::job>;
using candidates = std::vector<std::size_t>;

std::int64_t now_ns(self_pointer self);

} // namespace hearth::actors::tuner
