#include "runtime/fingerprints/files/file_view.hpp"

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
