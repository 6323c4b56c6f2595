// A command to a server on its way. Plain value.
#pragma once

#include "actors/ports/remote_client.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hearth::net {

/// A command in flight.
struct remote_command {
  using clock = std::chrono::steady_clock;
  actors::remote_client::command arguments; ///< moved out once sent
  clock::time_point deadline;
  std::chrono::milliseconds allowed{0};
  std::shared_ptr<const actors::remote_client::replies_callback> answered;
  std::size_t place = 0;   ///< position among the commands sent together
  std::uint64_t bytes = 0; ///< size of the arguments

  void answer(actors::remote_reply reply) { (*answered)(place, std::move(reply)); }
};

} // namespace hearth::net
