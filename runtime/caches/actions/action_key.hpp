// From an action to what is asked for: its key, and the request that runs it. Reads files; any
// thread.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/action.hpp"
#include "messages/key_builder.hpp"
#include "runtime/caches/actions/action.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"

#include <stop_token>

namespace hearth {

/// What knowing a compiler needs: somebody to ask it, and a memory of what it said.
struct tool_ports {
  actors::process_runner& processes;
  fingerprints::fact_memo& facts;
  std::stop_token stop{};
};

/// An action that was looked at.
struct prepared_action {
  structural_key key;
  action_request request;
};

/// Errors: `invalid_argument` (no command, no place for an output, a name twice); `not_found` (an
/// input, the program) and `permission` (a program that cannot be executed); what reading files and
/// asking a compiler report.
expected<prepared_action> prepare(const action& asked, const tool_ports& tools);

/// The action's path of a name: in `directory`, or in the place that stands for it when the action
/// has none.
std::filesystem::path place_of(const action& asked, const std::filesystem::path& name);

} // namespace hearth
