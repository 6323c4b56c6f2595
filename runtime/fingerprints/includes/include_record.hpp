// What an include scan found, in a form that a later run can check without a compiler: the files
// that were read, and every place where one would have been read instead had it been there.
//
// ccache's direct mode checks the files alone, so a new header that comes earlier in the search
// path goes unseen there. Here each name that any of the files asks for (by #include or
// __has_include, in branches taken or not) is noted in each folder in which it may be looked for.
// The compiler's search is a function of its settings, the files' contents and these facts; as long
// as none has changed, it would read the same files again. Plain value; any thread.
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

/// The names that matter in one folder. While a folder's stamp is the same, no entry has come or
/// gone, so its names need no look.
struct folder_facts {
  std::optional<file_stamp> stamp; ///< nothing: there is no such folder, so no name in it
  bool reliable = false;           ///< whether the stamp can be trusted
  // Names, each with a NUL behind it, sorted.
  std::string present; ///< a file is there
  std::string absent;  ///< no file is there
  /// Those of both whose entry is a symbolic link: where it leads may change unseen.
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

/// What an include scan takes for granted.
struct search_settings {
  std::string directory;                        ///< that relative names are relative to
  std::vector<std::string> include_directories; ///< as the compiler spells them
  std::vector<std::string> forced;              ///< names given by -include and -imacros
};

/// The facts on which a scan that read `files` rests, as they are now.
std::map<std::string, folder_facts> gather_facts(std::span<const scanned_file> files,
                                                 const search_settings& settings, file_view& view);

/// The precompiled headers (`x.h.gch`) among the facts' present names, which GCC takes in place of
/// the header: their paths.
std::vector<std::string> precompiled_headers(const std::map<std::string, folder_facts>& folders);

/// Whether nothing that the record rests on has changed since `start_ns`, nor since it was first
/// looked at: so a compiler that was started at `start_ns` saw what the record says. Asks the file
/// system, no view.
bool is_steady(const include_record& record, const std::string& directory, std::int64_t start_ns);

enum class record_state {
  stale,   ///< something changed: to be scanned again
  holds,   ///< everything is as it was
  renewed, ///< it holds, and its stamps are newer than those that were saved
};

/// Checks a record against the file system; takes over the stamps of now.
record_state check(include_record& record, const std::string& directory, file_view& view);

std::string encode(const include_record& record);
/// Nothing when the bytes are no record.
std::optional<include_record> decode_include_record(std::string_view bytes);

} // namespace hearth::fingerprints
