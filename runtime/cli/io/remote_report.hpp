// What the command line says of the remote tier.
#pragma once

#include "messages/replies.hpp"
#include "runtime/api/config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace hearth::cli {

nlohmann::json json_of(const remote_tier_stats& stats);

/// How the server of a configuration answers just now: "closed" when it does, else "open".
struct remote_answer {
  std::string place; ///< without secrets
  std::string state;
  std::string problem;
  double answer_ms = 0;
};

/// Asks it once, for at most `connect_deadline` of its connection.
remote_answer ask_remote(const remote_config& settings);

} // namespace hearth::cli
