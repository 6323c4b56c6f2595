#include "runtime/os/files/plain_file.hpp"

#include "messages/file_kind.hpp"
#include "runtime/os/files/file_problem.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace hearth::os {
namespace {

namespace fs = std::filesystem;

// The flags with which opening neither waits nor makes a terminal the process's own.
constexpr int without_waiting = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

error wrong_kind(const fs::path& path, mode_t mode) {
  return {errc::invalid_argument, path.string() + ": is " + std::string(name_of_kind(mode)) +
                                      "; name a regular file instead"};
}

// The number of a descriptor of this process that the path names, as /dev/stdin or /dev/fd/3.
std::optional<int> own_number(const std::string& path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const auto* end = path.data() + path.size();
    const auto parsed = std::from_chars(path.data() + folder.size(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0) return number;
  }
  return std::nullopt;
}

expected<descriptor> duplicate(int number, const fs::path& path) {
  descriptor copy(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  if (!copy && errno == EBADF)
    return fail(errc::invalid_argument, path.string() + ": no such descriptor is open");
  if (!copy) return fail(cannot("open", path));
  return copy;
}

bool is_null_device(const struct stat& status) {
  constexpr unsigned memory_devices = 1;
  constexpr unsigned null_device = 3;
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(memory_devices, null_device);
}

// Opens the file and looks at what it is. Later reads and writes wait, as usual: those of regular
// files do whatever the flags say.
expected<descriptor> open_and_look(const fs::path& path, int flags, struct stat& status) {
  descriptor file(::open(path.c_str(), flags | without_waiting));
  if (!file) return fail(cannot_open(path));
  if (::fstat(file.get(), &status) != 0) return fail(cannot("read", path));
  if (S_ISREG(status.st_mode)) return file;
  const int now = ::fcntl(file.get(), F_GETFL);
  if (now < 0 || ::fcntl(file.get(), F_SETFL, now & ~O_NONBLOCK) != 0)
    return fail(cannot("open", path));
  return file;
}

} // namespace

error cannot_open(const fs::path& path) {
  const int why = errno;
  struct stat status {};
  if (why == ENXIO && ::stat(path.c_str(), &status) == 0) return wrong_kind(path, status.st_mode);
  errno = why;
  return cannot("open", path);
}

expected<void> check_regular(const fs::path& path, mode_t mode) {
  if (S_ISREG(mode)) return {};
  return fail(wrong_kind(path, mode));
}

expected<descriptor> open_regular(const fs::path& path, int flags) {
  struct stat status {};
  auto file = open_and_look(path, O_RDONLY | flags, status);
  if (!file) return file;
  if (auto good = check_regular(path, status.st_mode); !good) return fail(good.error());
  return file;
}

expected<descriptor> open_input(const fs::path& path) {
  if (const auto number = own_number(path.string())) return duplicate(*number, path);
  struct stat status {};
  auto file = open_and_look(path, O_RDONLY, status);
  if (!file || is_null_device(status)) return file;
  if (auto good = check_regular(path, status.st_mode); !good) return fail(good.error());
  return file;
}

expected<descriptor> open_in_place(const fs::path& path) {
  if (const auto number = own_number(path.string())) return duplicate(*number, path);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return descriptor();
  if (!S_ISCHR(status.st_mode)) return fail(wrong_kind(path, status.st_mode));
  auto device = open_and_look(path, O_WRONLY, status);
  if (device && !S_ISCHR(status.st_mode)) return fail(wrong_kind(path, status.st_mode));
  return device;
}

expected<void> check_replaceable(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISLNK(status.st_mode)) return {};
  return check_regular(path, status.st_mode);
}

} // namespace hearth::os
