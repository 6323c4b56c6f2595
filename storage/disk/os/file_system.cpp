#include "storage/disk/os/file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace hearth::storage {
namespace {

// Returns the call's result, or minus errno; repeats a call that a signal interrupted.
template <class Call>
auto retried(Call call) noexcept -> decltype(call()) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}

struct flock byte_range(short type, std::uint64_t offset) noexcept {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = 1;
  return range;
}

// The descriptor itself, or one above the standard streams: a host may have closed those, and what
// it prints must not end in a file of the store.
int above_standard_streams(int opened) noexcept {
  if (opened > STDERR_FILENO) return opened;
  const int lifted = retried([&] { return ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); });
  ::close(opened);
  return lifted;
}

// 0 for a regular file; else minus the errno of what is none, or of the failure to look.
int check_plain(int fd) noexcept {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return -errno;
  return S_ISREG(about.st_mode) ? 0 : -no_plain_file;
}

} // namespace

int file_system::open_at(int directory, const char* name, int flags, mode_t mode) noexcept {
  const bool is_folder = (flags & O_DIRECTORY) != 0;
  // A FIFO is opened without a wait for its other end. Regular files know no such wait.
  const int how = flags | O_CLOEXEC | (is_folder ? 0 : O_NONBLOCK | O_NOCTTY);
  const int opened = retried([&] { return ::openat(directory, name, how, mode); });
  if (opened == -ENXIO) return -no_plain_file; // a socket, or a FIFO that nobody reads
  if (opened < 0) return opened;
  if (const int plain = is_folder ? 0 : check_plain(opened); plain < 0) {
    ::close(opened);
    return plain;
  }
  return above_standard_streams(opened);
}

void file_system::close(int fd) noexcept { ::close(fd); }

ssize_t file_system::read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept {
  return retried([&] { return ::pread(fd, to, bytes, static_cast<off_t>(offset)); });
}

ssize_t file_system::write_at(int fd, const iovec* parts, int count,
                              std::uint64_t offset) noexcept {
  return retried([&] { return ::pwritev(fd, parts, count, static_cast<off_t>(offset)); });
}

int file_system::allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return retried(
      [&] { return ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)); });
}

int file_system::punch(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  return retried([&] {
    return ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                       static_cast<off_t>(bytes));
  });
}

int file_system::resize(int fd, std::uint64_t bytes) noexcept {
  return retried([&] { return ::ftruncate(fd, static_cast<off_t>(bytes)); });
}

int file_system::sync(int fd) noexcept {
  return retried([&] { return ::fsync(fd); });
}

int file_system::status(int fd, struct stat& out) noexcept {
  return retried([&] { return ::fstat(fd, &out); });
}

int file_system::status_at(int directory, const char* name, struct stat& out) noexcept {
  return retried([&] { return ::fstatat(directory, name, &out, AT_SYMLINK_NOFOLLOW); });
}

int file_system::make_directory_at(int directory, const char* name, mode_t mode) noexcept {
  return retried([&] { return ::mkdirat(directory, name, mode); });
}

int file_system::remove_at(int directory, const char* name) noexcept {
  return retried([&] { return ::unlinkat(directory, name, 0); });
}

int file_system::rename_at(int directory, const char* from, const char* to) noexcept {
  return retried([&] { return ::renameat(directory, from, directory, to); });
}

int file_system::link_at(int directory, const char* from, const char* to) noexcept {
  return retried([&] { return ::linkat(directory, from, directory, to, 0); });
}

int file_system::list(int directory, std::vector<std::string>& names) noexcept {
  names.clear();
  const int copy = open_at(directory, ".", O_RDONLY | O_DIRECTORY, 0);
  if (copy < 0) return copy;
  DIR* stream = ::fdopendir(copy);
  if (!stream) {
    const int error = errno;
    ::close(copy);
    return -error;
  }
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  const int error = errno;
  ::closedir(stream);
  return -error;
}

void* file_system::map(int fd, std::size_t bytes, bool writable, void* fixed, int& error) noexcept {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(fixed, bytes, protection, MAP_SHARED | (fixed ? MAP_FIXED : 0), fd, 0);
  error = address == MAP_FAILED ? errno : 0;
  return address == MAP_FAILED ? nullptr : address;
}

void* file_system::reserve(std::size_t bytes, int& error) noexcept {
  void* address =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  error = address == MAP_FAILED ? errno : 0;
  return address == MAP_FAILED ? nullptr : address;
}

void file_system::unmap(void* address, std::size_t bytes) noexcept { ::munmap(address, bytes); }

int file_system::try_lock(int fd, bool exclusive) noexcept {
  return retried([&] { return ::flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB); });
}

void file_system::unlock(int fd) noexcept { ::flock(fd, LOCK_UN); }

int file_system::try_lock_byte(int fd, std::uint64_t offset) noexcept {
  auto range = byte_range(F_WRLCK, offset);
  return retried([&] { return ::fcntl(fd, F_OFD_SETLK, &range); });
}

void file_system::unlock_byte(int fd, std::uint64_t offset) noexcept {
  auto range = byte_range(F_UNLCK, offset);
  ::fcntl(fd, F_OFD_SETLK, &range);
}

long file_system::type_of(int fd) noexcept {
  struct statfs about {};
  if (::fstatfs(fd, &about) < 0) return -errno;
  return static_cast<long>(about.f_type);
}

std::uint64_t file_system::free_bytes(int fd) noexcept {
  struct statvfs about {};
  if (::fstatvfs(fd, &about) < 0) return 0;
  return std::uint64_t{about.f_bavail} * about.f_frsize;
}

std::string file_system::boot_id() noexcept {
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[64];
  const auto bytes = ::read(fd, text, sizeof text);
  ::close(fd);
  return bytes > 0 ? std::string(text, static_cast<std::size_t>(bytes)) : std::string{};
}

file_system& real_file_system() noexcept {
  static file_system instance;
  return instance;
}

namespace disk {

ssize_t read_fully(file_system& files, int fd, void* to, std::size_t bytes,
                   std::uint64_t offset) noexcept {
  std::size_t done = 0;
  while (done < bytes) {
    const auto got = files.read_at(fd, static_cast<char*>(to) + done, bytes - done, offset + done);
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

write_result write_fully(file_system& files, int fd, std::vector<iovec>& parts,
                         std::uint64_t offset) noexcept {
  write_result result;
  std::size_t first = 0;
  while (first < parts.size()) {
    if (parts[first].iov_len == 0) {
      ++first;
      continue;
    }
    const auto count = std::min<std::size_t>(parts.size() - first, IOV_MAX);
    const auto wrote =
        files.write_at(fd, parts.data() + first, static_cast<int>(count), offset + result.written);
    if (wrote <= 0) {
      result.error = wrote < 0 ? static_cast<int>(-wrote) : ENOSPC;
      return result;
    }
    result.written += static_cast<std::uint64_t>(wrote);
    auto left = static_cast<std::size_t>(wrote);
    while (first < parts.size() && left >= parts[first].iov_len)
      left -= parts[first++].iov_len;
    if (left > 0) {
      parts[first].iov_base = static_cast<char*>(parts[first].iov_base) + left;
      parts[first].iov_len -= left;
    }
  }
  return result;
}

write_result write_fully(file_system& files, int fd, const void* data, std::size_t bytes,
                         std::uint64_t offset) noexcept {
  std::vector<iovec> parts{{const_cast<void*>(data), bytes}};
  return write_fully(files, fd, parts, offset);
}

} // namespace disk
} // namespace hearth::storage
