#include "runtime/fingerprints/files/file_view.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <unistd.h>
#include <utility>

namespace hearth::fingerprints {

std::optional<file_stamp> stamp_now(const std::string& path) { return system_files().stamp(path); }

std::string path_in(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string(name);
  std::string path(directory);
  if (path.back() != '/') path += '/';
  path += name;
  return path;
}

std::optional<file_stamp> file_view::stamp(const std::string& path) {
  {
    const std::lock_guard lock(guard_);
    if (const auto at = stamps_.find(path); at != stamps_.end()) return at->second;
  }
  const auto found = source_.stamp(path);
  const std::lock_guard lock(guard_);
  return stamps_.try_emplace(path, found).first->second;
}

link_state link_now(const std::string& path) {
  std::array<char, PATH_MAX> text;
  const auto bytes = ::readlink(path.c_str(), text.data(), text.size());
  if (bytes >= 0) return {link_state::kind::link, {text.data(), static_cast<std::size_t>(bytes)}};
  return {errno == EINVAL ? link_state::kind::other : link_state::kind::absent};
}

link_state file_view::link(const std::string& path) {
  {
    const std::lock_guard lock(guard_);
    if (const auto known = links_.find(path); known != links_.end()) return known->second;
  }
  auto now = link_now(path);
  const std::lock_guard lock(guard_);
  return links_.try_emplace(path, std::move(now)).first->second;
}

bool file_view::is_file(const std::string& path) {
  const auto found = stamp(path);
  return found && !found->is_directory;
}

expected<file_content> file_view::content(const std::string& path) {
  {
    const std::lock_guard lock(guard_);
    if (const auto at = contents_.find(path); at != contents_.end()) return at->second;
  }
  const auto seen = stamp(path);
  auto known = seen ? source_.known(path, *seen) : std::nullopt;
  if (!known) {
    auto fresh = source_.hash(path);
    if (!fresh) return fresh;
    source_.remember(path, *fresh);
    known = *fresh;
  }
  const std::lock_guard lock(guard_);
  stamps_.insert_or_assign(path, known->stamp);
  return contents_.try_emplace(path, *known).first->second;
}

void file_view::trust(const std::string& path, const file_content& known) {
  if (!known.reliable || stamp(path) != known.stamp) return;
  const std::lock_guard lock(guard_);
  contents_.try_emplace(path, known);
}

} // namespace hearth::fingerprints
