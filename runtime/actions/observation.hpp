// Inputs that an action discovered: the files that it was seen to look at, or, where programs
// cannot be watched, those that its dependency file names besides the declared ones. Reads files;
// any thread.
#pragma once

#include "messages/action.hpp"
#include "runtime/actions/action.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/observation.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// What a command line says of the places of files.
struct command_words {
  std::vector<std::string> deciding; ///< as the key has them
  bool may_tell_places = false;      ///< a compile may tell where its folder is
};

/// Encodes the inputs that an action discovered in a run. Errors: `unsupported` when it is unknown
/// what it read: it was not watched, has no dependency file and sees more than declared inputs;
/// `malformed`; `busy` when a file may have been another at the start; those of reading files.
expected<std::string> observe(const action& asked, const scratch_view& view,
                              const command_words& words, const action_request::run_record& run,
                              const fingerprints::start_of_run& start,
                              fingerprints::fact_memo& memo);

/// As above, for a program that was watched. `view`: its folder and the files that it makes; a
/// folder alone where it ran in the folder itself. Errors: `unsupported` when not all could be
/// seen.
expected<std::string> observe_watched(const scratch_view& view,
                                      const action_request::run_record& run,
                                      const fingerprints::start_of_run& start,
                                      fingerprints::fact_memo& memo);

/// Adds variables, unless they are set, that keep programs from reading what they have written:
/// Python would put its bytecode into the caller's folders, and ccache, or a compiler's name for
/// `hearth cc`, would keep what is kept here.
void add_quiet_variables(std::vector<std::string>& environment);

/// The text that says why a result is not kept: nothing tells what the command read, because of
/// `why`. And whether a text is one of these.
std::string unknown_inputs(const std::string& why);
bool tells_of_unknown_inputs(std::string_view text);

/// What an observation is made of, each in words.
std::vector<std::string> read_in(const std::string& observation);

/// What has changed since an observation was made, in words; empty: nothing, it holds.
std::string change_since(const std::string& observation, const action& asked,
                         const scratch_view& view, fingerprints::file_view& files,
                         fingerprints::fact_memo& memo);

} // namespace hearth
