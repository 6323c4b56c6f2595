#include "tests/support/faulty_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace hearth::test {

void faulty_file_system::heal() {
  plan_.heal();
  room_ = -1;
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
  auto limit = plan_.write_limit();
  const auto room = room_.load();
  if (room == 0) return -ENOSPC;
  if (room > 0) limit = std::min(limit ? limit : SIZE_MAX, static_cast<std::size_t>(room));
  if (limit == 0) return file_system::write_at(fd, parts, count, offset);
  const auto first = storage::shortened(parts, count, limit);
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

int faulty_file_system::try_lock(int fd, bool exclusive) noexcept {
  const int error = fault(call::lock);
  return error ? error : file_system::try_lock(fd, exclusive);
}

int faulty_file_system::try_lock_byte(int fd, std::uint64_t offset) noexcept {
  const int error = fault(call::lock);
  return error ? error : file_system::try_lock_byte(fd, offset);
}

long faulty_file_system::type_of(int fd) noexcept {
  return type_ ? type_ : file_system::type_of(fd);
}

std::string faulty_file_system::boot_id() noexcept {
  return boot_.empty() ? file_system::boot_id() : boot_;
}

} // namespace hearth::test
