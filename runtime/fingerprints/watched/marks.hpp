// Marks: what changes whenever an answer about a path does, told in one system call a path. Marks
// of many paths are packed into bytes, which a later look-up compares without making anything of
// them. They hold on this host alone. Reads the file system; any thread.
#pragma once

#include "runtime/fingerprints/files/file_stamp.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/watched/questions.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::fingerprints {

/// The mark of a file or folder with this stamp; nothing: of one that is not there.
std::string stamp_mark(const std::optional<file_stamp>& stamp);
/// The mark of a folder whose names and times do not count.
std::string folder_mark();
/// The mark of what is, or is not, a symbolic link.
std::string link_mark(const link_state& link);

/// The marks of paths, by path and by what was asked of it: a link itself, or what it leads to.
class packed_marks {
public:
  /// Adds what is at a path now. False: it changed so shortly ago that its mark cannot be trusted.
  bool add_now(const std::string& path, std::int64_t now_ns);
  void add(file_question::kind asked, const std::string& path, std::string mark);
  std::string bytes() const;

private:
  std::map<std::pair<std::string, bool>, std::string> marks_; // true: of a link itself
};

/// Whether all marks still hold. False for bytes that `packed_marks` has not made.
bool marks_hold(std::string_view bytes);

} // namespace hearth::fingerprints
