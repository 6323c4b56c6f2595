// What a watched program can have learnt about files: the paths that it looked at, as questions
// whose answers are its inputs. Reads the file system; any thread.
//
// A program runs in a scratch directory whose `root` shows the host's files by links
// (`scratch_view`). What it looked at there stands for the host's file; what it made there itself
// is no input. Symbolic links of the host are followed here one by one, so that a link that is
// turned later shows.
#pragma once

#include "messages/action.hpp"
#include "messages/error.hpp"
#include "messages/sighting.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// One thing that can be asked about a path.
struct file_question {
  enum class kind : char {
    content = 'c', ///< links are followed: a file's bytes, or that it is a folder, or absent
    link = 'k',    ///< the text of a symbolic link, or that it is none
    listing = 'l', ///< the names in a folder as the scratch directory shows them: without what the
                   ///< program makes, and with the folders for it
    place = 'p',   ///< its absolute path
  };
  kind what = kind::content;
  /// Absolute, or relative to the program's working folder: then it is the same question in another
  /// checkout.
  std::string name;

  friend auto operator<=>(const file_question&, const file_question&) = default;
};

/// Where a watched program ran.
struct watched_place {
  std::string scratch; ///< its scratch directory
  scratch_view view;   ///< what `root` in it shows
  /// It ran in the view's folder itself, beneath an overlay, and not in the scratch directory.
  bool is_covered = false;
};

/// Whether a path is that of a folder, without "/" at its end, or lies below it.
bool is_below(std::string_view path, std::string_view folder);
/// Whether files below `path` belong to the system: they change when packages do.
bool is_of_system(std::string_view path);
/// The path of a question's name.
std::string path_of(std::string_view folder, std::string_view name);

/// What was seen, as questions.
struct watched_questions {
  std::set<file_question> asked;
  /// Paths of the programs that were run, as they were called and as they are; with interpreters.
  std::set<std::string> programs;

  friend bool operator==(const watched_questions&, const watched_questions&) = default;
};

/// The folders of files, and all folders above them but the root.
std::set<std::string> folders_of(const std::vector<std::string>& places);

/// The questions that what was seen amounts to. Errors: `busy` when a file appeared, went or was
/// replaced since the program looked at it.
expected<watched_questions> questions_of(const std::vector<sighting>& seen,
                                         const watched_place& place);

} // namespace hearth::fingerprints
