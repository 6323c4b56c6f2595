#include "runtime/simulation/process_files.hpp"

#include <cerrno>
#include <fcntl.h>

namespace hearth::simulation {
namespace {

using storage::file_system;

std::uint64_t total_bytes(const iovec* parts, int count) {
  std::uint64_t bytes = 0;
  for (int i = 0; i < count; ++i)
    bytes += parts[i].iov_len;
  return bytes;
}

} // namespace

process_files::~process_files() { die(); }

void process_files::heal() {
  plan_.heal();
  lost_writes_ = 0;
  full_ = false;
}

void process_files::die() {
  dead_ = true;
  for (const int fd : mine_)
    disk_->close(fd);
  mine_.clear();
}

int process_files::fault(disk_call call) noexcept { return dead_ ? -EIO : plan_.next(call); }

int process_files::open_at(int directory, const char* name, int flags, mode_t mode) noexcept {
  if (const int error = fault(disk_call::open)) return error;
  const int fd = disk_->open(directory, name, flags, mode);
  if (fd >= 0) mine_.insert(fd);
  return fd;
}

void process_files::close(int fd) noexcept {
  if (mine_.erase(fd) != 0) disk_->close(fd);
}

ssize_t process_files::read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept {
  if (const int error = fault(disk_call::read)) return error;
  const int memory = disk_->memory_of(fd);
  return memory < 0 ? memory : file_system::read_at(memory, to, bytes, offset);
}

ssize_t process_files::write_at(int fd, const iovec* parts, int count,
                                std::uint64_t offset) noexcept {
  if (const int error = fault(disk_call::write)) return error;
  const int memory = disk_->memory_to_change(fd);
  if (memory < 0) return memory;
  if (lost_writes_ > 0) {
    --lost_writes_;
    return static_cast<ssize_t>(total_bytes(parts, count));
  }
  struct stat about {};
  if (full_ && file_system::status(memory, about) == 0 &&
      offset + total_bytes(parts, count) > static_cast<std::uint64_t>(about.st_size))
    return -ENOSPC;
  const auto limit = plan_.write_limit();
  if (limit == 0) return file_system::write_at(memory, parts, count, offset);
  const auto first = storage::shortened(parts, count, limit);
  return file_system::write_at(memory, &first, 1, offset);
}

int process_files::allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (const int error = fault(disk_call::allocate)) return error;
  if (full_) return -ENOSPC;
  const int memory = disk_->memory_to_change(fd);
  return memory < 0 ? memory : file_system::allocate(memory, offset, bytes);
}

int process_files::punch(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  if (dead_) return -EIO;
  const int memory = disk_->memory_to_change(fd);
  return memory < 0 ? memory : file_system::punch(memory, offset, bytes);
}

int process_files::resize(int fd, std::uint64_t bytes) noexcept {
  if (const int error = fault(disk_call::resize)) return error;
  const int memory = disk_->memory_to_change(fd);
  return memory < 0 ? memory : file_system::resize(memory, bytes);
}

int process_files::sync(int fd) noexcept {
  const int error = fault(disk_call::sync);
  return error ? error : disk_->sync(fd);
}

int process_files::status(int fd, struct stat& out) noexcept {
  return dead_ ? -EIO : disk_->status(fd, out);
}

int process_files::status_at(int directory, const char* name, struct stat& out) noexcept {
  return dead_ ? -EIO : disk_->status_at(directory, name, out);
}

int process_files::make_directory_at(int directory, const char* name, mode_t mode) noexcept {
  return dead_ ? -EIO : disk_->make_directory(directory, name, mode);
}

int process_files::remove_at(int directory, const char* name) noexcept {
  const int error = fault(disk_call::remove);
  return error ? error : disk_->remove(directory, name);
}

int process_files::rename_at(int directory, const char* from, const char* to) noexcept {
  const int error = fault(disk_call::rename);
  return error ? error : disk_->rename(directory, from, to);
}

int process_files::link_at(int directory, const char* from, const char* to) noexcept {
  return dead_ ? -EIO : disk_->link(directory, from, to);
}

int process_files::list(int directory, std::vector<std::string>& names) noexcept {
  return dead_ ? -EIO : disk_->list(directory, names);
}

void* process_files::map(int fd, std::size_t bytes, bool writable, void* fixed,
                         int& error) noexcept {
  error = -fault(disk_call::map);
  if (error) return nullptr;
  const int memory = disk_->memory_of(fd);
  if (memory < 0) {
    error = -memory;
    return nullptr;
  }
  return file_system::map(memory, bytes, writable, fixed, error);
}

int process_files::try_lock(int fd, bool exclusive) noexcept {
  const int error = fault(disk_call::lock);
  return error ? error : disk_->try_lock(fd, exclusive);
}

void process_files::unlock(int fd) noexcept { disk_->unlock(fd); }

int process_files::try_lock_byte(int fd, std::uint64_t offset) noexcept {
  const int error = fault(disk_call::lock);
  return error ? error : disk_->try_lock_byte(fd, offset);
}

void process_files::unlock_byte(int fd, std::uint64_t offset) noexcept {
  disk_->unlock_byte(fd, offset);
}

long process_files::type_of(int) noexcept {
  constexpr long ext4 = 0xEF53;
  return dead_ ? -EIO : ext4;
}

std::uint64_t process_files::free_bytes(int) noexcept { return std::uint64_t{100} << 30; }

std::string process_files::boot_id() noexcept {
  return "boot " + std::to_string(disk_->power_losses());
}

} // namespace hearth::simulation
