// The seam between the store and the operating system: every file, mapping and lock of a store goes
// through one of these, so that tests can make any of them fail, tear or lose power.
//
// The base class makes the real system calls. Owner: the runtime, or the test; it outlives the
// store. Any thread. Reads of mapped bytes do not pass through it, so it costs a hit nothing.
#pragma once

#include "storage/disk/os/sigbus_guard.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace hearth::storage {

/// The errno of opening what is no regular file: no call on a regular file ends with it.
inline constexpr int no_plain_file = EMEDIUMTYPE;

/// System calls. A negative result is minus an `errno`. Descriptors are closed on exec.
class file_system {
public:
  file_system() = default;
  file_system(const file_system&) = delete;
  file_system& operator=(const file_system&) = delete;
  virtual ~file_system() = default;

  /// Opens a regular file, or with O_DIRECTORY a folder. Anything else, as a FIFO, is refused at
  /// once with `no_plain_file`.
  virtual int open_at(int directory, const char* name, int flags, mode_t mode) noexcept;
  virtual void close(int fd) noexcept;
  virtual ssize_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept;
  virtual ssize_t write_at(int fd, const iovec* parts, int count, std::uint64_t offset) noexcept;
  /// Allocates blocks for a range and extends the file to its end.
  virtual int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept;
  /// Frees the blocks of a range, which then reads as zeros.
  virtual int punch(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept;
  virtual int resize(int fd, std::uint64_t bytes) noexcept;
  /// Makes a file's data and size, or a directory's entries, survive a power loss.
  virtual int sync(int fd) noexcept;
  virtual int status(int fd, struct stat& out) noexcept;
  virtual int status_at(int directory, const char* name, struct stat& out) noexcept;
  virtual int make_directory_at(int directory, const char* name, mode_t mode) noexcept;
  virtual int remove_at(int directory, const char* name) noexcept;
  virtual int rename_at(int directory, const char* from, const char* to) noexcept;
  virtual int link_at(int directory, const char* from, const char* to) noexcept;
  /// Names in a directory, without "." and "..".
  virtual int list(int directory, std::vector<std::string>& names) noexcept;

  /// Maps `bytes` of a file, shared; at `fixed` when it is given. Null: `error` says why.
  virtual void* map(int fd, std::size_t bytes, bool writable, void* fixed, int& error) noexcept;
  /// Reserves address space without memory.
  virtual void* reserve(std::size_t bytes, int& error) noexcept;
  virtual void unmap(void* address, std::size_t bytes) noexcept;

  /// `flock`, never waiting. -EWOULDBLOCK: another holder has it.
  virtual int try_lock(int fd, bool exclusive) noexcept;
  virtual void unlock(int fd) noexcept;
  /// An open-file-description lock on one byte, never waiting. -EAGAIN: another holder has it.
  virtual int try_lock_byte(int fd, std::uint64_t offset) noexcept;
  virtual void unlock_byte(int fd, std::uint64_t offset) noexcept;

  /// The type of file system, as `statfs` reports it, or minus an errno.
  virtual long type_of(int fd) noexcept;
  /// Free bytes that this user may still take.
  virtual std::uint64_t free_bytes(int fd) noexcept;
  /// An identifier that changes with every start of the machine.
  virtual std::string boot_id() noexcept;
};

/// The file system that calls the operating system.
file_system& real_file_system() noexcept;

namespace disk {

/// An open file; the destructor closes it.
class file {
public:
  file() = default;
  file(file_system& files, int fd) noexcept
      : files_(&files)
      , fd_(fd) {}
  file(file&& other) noexcept
      : files_(other.files_)
      , fd_(std::exchange(other.fd_, -1)) {}
  file& operator=(file&& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~file() { close(); }

  explicit operator bool() const noexcept { return fd_ >= 0; }
  int get() const noexcept { return fd_; }
  /// The errno when it could not be opened; else 0.
  int error() const noexcept { return fd_ < 0 ? -fd_ : 0; }
  void close() noexcept {
    if (fd_ >= 0) files_->close(fd_);
    fd_ = -1;
  }
  int release() noexcept { return std::exchange(fd_, -1); }

private:
  file_system* files_ = nullptr;
  int fd_ = -1;
};

/// A mapped range; the destructor unmaps it.
class mapping {
public:
  mapping() = default;
  mapping(file_system& files, void* address, std::size_t bytes) noexcept
      : files_(&files)
      , address_(address)
      , bytes_(bytes) {
    guard_range(address, bytes);
  }
  mapping(mapping&& other) noexcept
      : files_(other.files_)
      , address_(std::exchange(other.address_, nullptr))
      , bytes_(std::exchange(other.bytes_, 0)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~mapping() {
    if (!address_) return;
    unguard_range(address_);
    files_->unmap(address_, bytes_);
  }

  explicit operator bool() const noexcept { return address_ != nullptr; }
  char* data() const noexcept { return static_cast<char*>(address_); }
  std::size_t size() const noexcept { return bytes_; }

private:
  file_system* files_ = nullptr;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Reads until `bytes` are read or the file ends. Returns the bytes read, or minus an errno.
ssize_t read_fully(file_system& files, int fd, void* to, std::size_t bytes,
                   std::uint64_t offset) noexcept;

/// What `write_fully` did: bytes written, and the errno that ended it early (0: all written).
struct write_result {
  std::uint64_t written = 0;
  int error = 0;
};
/// Writes all parts, continuing after short writes. It modifies `parts`.
write_result write_fully(file_system& files, int fd, std::vector<iovec>& parts,
                         std::uint64_t offset) noexcept;
write_result write_fully(file_system& files, int fd, const void* data, std::size_t bytes,
                         std::uint64_t offset) noexcept;

} // namespace disk
} // namespace hearth::storage
