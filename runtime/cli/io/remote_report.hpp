// The remote tier in the output of commands.
#pragma once

#include "messages/replies.hpp"
#include "runtime/api/config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace hearth::cli {

nlohmann::json json_of(const remote_tier_stats& stats);

/// The present state of the configured server, in a breaker's terms: "closed" when it answers, else
/// "open".
struct remote_answer {
  std::string place; ///< the server's name, without secrets
  std::string state;
  std::string problem;
  double answer_ms = 0;
};

/// Sends one PING and waits at most 2 s for the reply.
remote_answer ask_remote(const remote_config& settings);

} // namespace hearth::cli
