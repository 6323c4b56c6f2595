// The result of an include scan, in a form that a later run can check without a compiler: the files
// that were read, and every path that would have been read instead if it had existed.
//
// ccache's direct mode checks only the files, so it misses a new header earlier in the search path.
// This record notes each name that a file includes (by #include or __has_include, in branches taken
// or not) in each folder that the compiler may search for it. The compiler's search is a function
// of its settings, the files' contents and these facts; while none has changed, it reads the same
// files again. Plain value; any thread.
#pragma once

#include "messages/digest.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/includes/directives.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hearth::fingerprints {

/// The relevant names in one folder. While the folder's stamp is the same, no entry was added or
/// removed, so its names need no check.
struct folder_facts {
  std::optional<file_stamp> stamp; ///< nothing: the folder does not exist
  bool reliable = false;           ///< whether the stamp can be trusted
  // Sorted names, each followed by a NUL.
  std::string present; ///< names with a file
  std::string absent;  ///< names without a file
  /// The names of both that are symbolic links: their targets may change without the folder's
  /// stamp.
  std::string links;
};

struct include_record {
  std::map<std::string, file_content> files;   ///< by name as the compiler spells it
  std::map<std::string, folder_facts> folders; ///< by path
};

/// A file of a closure with its text.
struct scanned_file {
  std::string name; ///< as the compiler spells it
  const source_text* text = nullptr;
};

/// The settings of an include scan.
struct search_settings {
  std::string directory;                        ///< base of relative names
  std::vector<std::string> include_directories; ///< as the compiler spells them
  std::vector<std::string> forced;              ///< names given by -include and -imacros
};

/// The current facts on which a scan that read `files` depends.
std::map<std::string, folder_facts> gather_facts(std::span<const scanned_file> files,
                                                 const search_settings& settings, file_view& view);

/// The paths of the precompiled headers (`x.h.gch`) among the facts' present names. GCC uses them
/// in place of the header.
std::vector<std::string> precompiled_headers(const std::map<std::string, folder_facts>& folders);

/// Whether nothing in the record has changed since `start_ns`, nor since it was first examined:
/// then a compiler started at `start_ns` saw the recorded state. Reads the file system, not a view.
bool is_steady(const include_record& record, const std::string& directory, std::int64_t start_ns);

enum class record_state {
  stale,   ///< something changed: scan again
  holds,   ///< nothing changed
  renewed, ///< nothing changed, but its stamps are newer than the saved ones
};

/// Checks a record against the file system; updates its stamps.
record_state check(include_record& record, const std::string& directory, file_view& view);

std::string encode(const include_record& record);
/// Nothing when the bytes are not a record.
std::optional<include_record> decode_include_record(std::string_view bytes);

} // namespace hearth::fingerprints
