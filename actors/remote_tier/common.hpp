// Types that all parts of the remote tier share. On the tier's thread.
#pragma once

#include "actors/remote_tier.hpp"
#include "actors/remote_tier/failure_severity.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace hearth::actors::remote {

using self_pointer = remote_tier_actor::stateful_pointer<remote_tier_state>;
using state_type = remote_tier_state;

} // namespace hearth::actors::remote
