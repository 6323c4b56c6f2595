// The inputs of a watched command: questions about files (questions.hpp) and their answers, as
// bytes that are stored with its result. Reads files; any thread.
//
// Answers about files of the system are kept as one digest for each folder, the others one by one,
// so that a change can be told by name. A local memo of stamps saves reading files again.
#pragma once

#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/observation.hpp"
#include "runtime/fingerprints/toolchain/fact_memo.hpp"
#include "runtime/fingerprints/watched/marks.hpp"
#include "runtime/fingerprints/watched/questions.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// The ports and settings for answering questions.
struct input_reader {
  const scratch_view& view; ///< its folder and the files that the command makes
  file_view& files;
  fact_memo& memo;
};

/// Whether a program with this file name may make its result from times, owners and modes of files.
bool reads_status(std::string_view program);

/// Encodes the answers to the questions. `with_status`: times, owners and modes are answers too.
/// Errors: `busy` when a file may have been another at the start; those of reading files.
expected<std::string> watched_inputs(const std::set<file_question>& questions, bool with_status,
                                     const start_of_run& start, const input_reader& in);

/// What has changed since, in words; empty: nothing. No value: the bytes are not of
/// `watched_inputs`. `hash`: SHA-256 of the bytes.
std::optional<std::string> change_in(std::string_view inputs, const digest& hash,
                                     const input_reader& in);

/// Adds the marks of all that these bytes ask about, as they are now, for a command in the same
/// folder. False: the bytes are not of `watched_inputs`, or something changed so shortly ago that
/// its mark cannot be trusted, or times, owners and modes are answers.
bool add_marks(packed_marks& to, std::string_view inputs, const input_reader& in);

/// The questions of these bytes, each in words with its answer where that is known: "x.h (not
/// there)"; relative names first. No value: the bytes are not of `watched_inputs`.
std::optional<std::vector<std::string>> inputs_in_words(std::string_view inputs);

/// The paths of the files whose content these bytes hold, each once, for a command in `folder`.
std::vector<std::string> files_in(std::string_view inputs, std::string_view folder);

} // namespace hearth::fingerprints
