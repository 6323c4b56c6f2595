#include "runtime/fingerprints/watched/marks.hpp"

namespace hearth::fingerprints {
namespace {

constexpr char of_link = 'k', of_target = 't';

void append_number(std::string& to, std::uint64_t number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Numbers of the length of a path or a mark: two bytes.
constexpr std::size_t max_length = 0xffff;

void append_text(std::string& to, const std::string& text) {
  to += static_cast<char>(text.size() & 0xff);
  to += static_cast<char>(text.size() >> 8);
  to += text;
}

std::optional<std::string_view> take_text(std::string_view& from) {
  if (from.size() < 2) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(from[i]); };
  const std::size_t size = byte(0) | std::size_t{byte(1)} << 8;
  if (from.size() < 2 + size) return std::nullopt;
  const auto text = from.substr(2, size);
  from.remove_prefix(2 + size);
  return text;
}

bool holds(char of, const std::string& path, std::string_view mark) {
  if (of == of_link) return link_mark(link_now(path)) == mark;
  const auto now = stamp_now(path);
  if (mark == folder_mark()) return now && now->is_directory;
  return stamp_mark(now) == mark;
}

} // namespace

std::string stamp_mark(const std::optional<file_stamp>& stamp) {
  if (!stamp) return "a";
  std::string all(1, stamp->is_directory ? 'D' : 'f');
  for (const auto number :
       {stamp->mount, stamp->device, stamp->inode, static_cast<std::uint64_t>(stamp->size),
        static_cast<std::uint64_t>(stamp->mtime_ns), static_cast<std::uint64_t>(stamp->ctime_ns)})
    append_number(all, number);
  return all;
}

std::string folder_mark() { return "d"; }

std::string link_mark(const link_state& link) {
  switch (link.what) {
  case link_state::kind::absent: return "a";
  case link_state::kind::other: return "n";
  case link_state::kind::link: break;
  }
  return "s" + link.text;
}

bool packed_marks::add_now(const std::string& path, std::int64_t now_ns) {
  const auto stamp = stamp_now(path);
  if (stamp && !is_reliable(*stamp, now_ns)) return false;
  add(file_question::kind::content, path, stamp_mark(stamp));
  return true;
}

void packed_marks::add(file_question::kind asked, const std::string& path, std::string mark) {
  const bool is_link = asked == file_question::kind::link;
  auto& known = marks_[{path, is_link}];
  // The stamp of a folder says more than that it is one.
  if (known.empty() || known == folder_mark()) known = std::move(mark);
}

std::string packed_marks::bytes() const {
  std::string all;
  for (const auto& [at, mark] : marks_) {
    if (at.first.size() > max_length || mark.size() > max_length) return {};
    all += at.second ? of_link : of_target;
    append_text(all, at.first);
    append_text(all, mark);
  }
  return all;
}

bool marks_hold(std::string_view bytes) {
  if (bytes.empty()) return false;
  while (!bytes.empty()) {
    const char of = bytes.front();
    bytes.remove_prefix(1);
    const auto path = take_text(bytes);
    const auto mark = path ? take_text(bytes) : std::nullopt;
    if (!mark || (of != of_link && of != of_target)) return false;
    if (!holds(of, std::string(*path), *mark)) return false;
  }
  return true;
}

} // namespace hearth::fingerprints
