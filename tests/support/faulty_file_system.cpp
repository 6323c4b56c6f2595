#include "tests/support/faulty_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace hearth::test {

void faulty_file_system::fail(call kind, int error, int after, int times) {
  const std::lock_guard lock(mutex_);
  plans_[kind] = {error, after, times};
}

void faulty_file_system::heal() {
  const std::lock_guard lock(mutex_);
  plans_.clear();
  write_limit_ = 0;
  room_ = -1;
}

int faulty_file_system::fault(call kind) noexcept {
  ++counts_[static_cast<unsigned>(kind)];
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(kind);
  if (found == plans_.end() || found->second.error == 0) return 0;
  auto& present = found->second;
  if (present.after > 0) return --present.after, 0;
  if (present.times <= 0) return 0;
  --present.times;
  return -present.error;
}

int faulty_file_system::open_at(int directory, const char* name, int flags, mode_t mode) noexcept {
  const int error = fault(call::open);
  return error ? error : file_system::open_at(directory, name, flags, mode);
}

ssize_t faulty_file_system::read_at(int fd, void* to, std::size_t bytes,
                                    std::uint64_t offset) noexcept {
  const int error = fault(call::read);
  return error ? error : file_system::read_at(fd, to, bytes, offset);
}

ssize_t faulty_file_system::write_at(int fd, const iovec* parts, int count,
                                     std::uint64_t offset) noexcept {
  if (const int error = fault(call::write)) return error;
  std::size_t limit = write_limit_;
  const auto room = room_.load();
  if (room == 0) return -ENOSPC;
  if (room > 0) limit = std::min(limit ? limit : SIZE_MAX, static_cast<std::size_t>(room));
  if (limit == 0) return file_system::write_at(fd, parts, count, offset);
  iovec first = parts[0];
  while (first.iov_len == 0 && --count > 0)
    first = *++parts;
  first.iov_len = std::min(first.iov_len, limit);
  const auto wrote = file_system::write_at(fd, &first, 1, offset);
  if (room > 0 && wrote > 0) room_ -= wrote;
  return wrote;
}

int faulty_file_system::allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const int error = fault(call::allocate);
  return error ? error : file_system::allocate(fd, offset, bytes);
}

int faulty_file_system::resize(int fd, std::uint64_t bytes) noexcept {
  const int error = fault(call::resize);
  return error ? error : file_system::resize(fd, bytes);
}

int faulty_file_system::sync(int fd) noexcept {
  const int error = fault(call::sync);
  return error ? error : file_system::sync(fd);
}

int faulty_file_system::rename_at(int directory, const char* from, const char* to) noexcept {
  const int error = fault(call::rename);
  return error ? error : file_system::rename_at(directory, from, to);
}

int faulty_file_system::remove_at(int directory, const char* name) noexcept {
  const int error = fault(call::remove);
  return error ? error : file_system::remove_at(directory, name);
}

void* faulty_file_system::map(int fd, std::size_t bytes, bool writable, void* fixed,
                              int& error) noexcept {
  error = -fault(call::map);
  return error ? nullptr : file_system::map(fd, bytes, writable, fixed, error);
}

long faulty_file_system::type_of(int fd) noexcept {
  return type_ ? type_ : file_system::type_of(fd);
}

std::string faulty_file_system::boot_id() noexcept {
  return boot_.empty() ? file_system::boot_id() : boot_;
}

namespace {

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::filesystem::path path_of_descriptor(int fd) {
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd));
}

ino_t inode_of(const std::filesystem::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

} // namespace

int volatile_file_system::sync(int fd) noexcept {
  const int result = faulty_file_system::sync(fd);
  if (result < 0) return result;
  struct stat about {};
  ::fstat(fd, &about);
  const auto path = path_of_descriptor(fd);
  const std::lock_guard lock(durable_mutex_);
  if (S_ISDIR(about.st_mode)) {
    auto& entries = entries_[about.st_ino];
    entries.clear();
    for (const auto& entry : std::filesystem::directory_iterator(path))
      entries[entry.path().filename()] = inode_of(entry.path());
  } else {
    contents_[about.st_ino] = contents_of(path);
  }
  return result;
}

void volatile_file_system::lose_power(const std::filesystem::path& from,
                                      const std::filesystem::path& to, std::uint64_t seed) {
  const std::lock_guard lock(durable_mutex_);
  lose_power_in(from, to, seed);
}

void volatile_file_system::lose_power_in(const std::filesystem::path& from,
                                         const std::filesystem::path& to, std::uint64_t seed) {
  constexpr std::size_t sector = 512;
  std::mt19937_64 random(seed);
  const auto coin = [&] { return (random() & 1) != 0; };
  std::filesystem::create_directories(to);
  std::filesystem::permissions(to, std::filesystem::perms::owner_all);
  const auto& synced = entries_[inode_of(from)];
  // A journal keeps the order in which a directory changed: removals came after what was made
  // before them, so either all of the directory's news are there or none of them.
  const bool news = coin();
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(from))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const auto name = path.filename();
    if (std::filesystem::is_directory(path)) {
      lose_power_in(path, to / name, random());
      continue;
    }
    const auto inode = inode_of(path);
    const auto known = synced.find(name);
    if (!news && (known == synced.end() || known->second != inode)) continue;
    auto now = contents_of(path);
    const auto& old = contents_[inode];
    if (now.size() != old.size() && coin()) now.resize(old.size());
    for (std::size_t at = 0; at < now.size(); at += sector) {
      const auto bytes = std::min(sector, now.size() - at);
      if (now.compare(at, bytes, old, std::min(at, old.size()), bytes) == 0 || coin()) continue;
      std::string before = at < old.size() ? old.substr(at, bytes) : std::string();
      before.resize(bytes, '\0');
      now.replace(at, bytes, before);
    }
    std::ofstream(to / name, std::ios::binary) << now;
    std::filesystem::permissions(to / name, std::filesystem::perms::owner_read |
                                                std::filesystem::perms::owner_write);
  }
}

} // namespace hearth::test
