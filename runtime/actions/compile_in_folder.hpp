// Compiles whose command line is understood run in the caller's folder itself. Pure functions but
// for looks at files; any thread.
#pragma once

#include "messages/action.hpp"
#include "runtime/actions/action.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hearth {

/// What of a command line is part of the action's key.
struct deciding_words {
  std::vector<std::string> command;
  std::vector<std::string> outputs;
  std::string place; ///< where it runs; empty: in a view
};

/// Changes the request for a compile so that it runs in the action's folder, with its outputs
/// redirected into the scratch directory: then no view of links has to be made. `request.view` is
/// empty afterwards. What decides then has no names of outputs, but for those that are in a
/// dependency file. Nothing, and nothing is changed: the command line is not understood, writes
/// other files than the action's outputs and a dependency file, or the outputs' names are in their
/// bytes.
std::optional<deciding_words> run_in_folder(const action& asked, action_request& request);

} // namespace hearth
