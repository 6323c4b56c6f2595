// Computes the key of an action and the request that runs it. Reads files; any thread.
#pragma once

#include "actors/ports/programs.hpp"
#include "messages/action.hpp"
#include "messages/key_builder.hpp"
#include "runtime/actions/action.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"

#include <memory>
#include <set>
#include <stop_token>

namespace hearth {

/// The ports for identifying a compiler: a process runner, and a memo of known facts.
struct tool_ports {
  actors::process_runner& processes;
  fingerprints::fact_memo& facts;
  std::stop_token stop{};
  bool watches = true;   ///< programs are watched, if the system lets them
  bool can_watch = true; ///< the system does
  /// The facts, for a run that may outlive its caller.
  std::shared_ptr<fingerprints::fact_memo> lasting_facts{};
};

/// The key and the request of an action.
struct prepared_action {
  structural_key key;
  key_field shown; ///< the details of the key for people: a compiler by its files
  action_request request;
  scratch_view view; ///< for the questions about what it reads, also if it runs in its own folder
  /// Filled in when the request is run here: `undeclared_in`. Null: nothing is undeclared.
  std::shared_ptr<std::vector<std::string>> undeclared{};
};

/// Errors: `invalid_argument` (no command, no place for an output, a name twice); `not_found` (an
/// input); `program_not_found` and `program_refused`; those of reading files and of querying a
/// compiler.
expected<prepared_action> prepare(const action& asked, const tool_ports& tools);

/// What keys of this action are compared by: its folder with its outputs, or with its program.
std::string subject_of(const action& asked);

/// The absolute path of a name: in `directory`, or in a fixed folder when the action has none.
std::filesystem::path place_of(const action& asked, const std::filesystem::path& name);
/// The places of all that an action declares: inputs, outputs and its dependency file.
std::set<std::filesystem::path> declared_places(const action& asked);

} // namespace hearth
