#include "runtime/files/whole_file.hpp"

#include "runtime/process/descriptor.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth {
namespace {

error cannot(const char* what, const std::filesystem::path& path) {
  return error_of_errno(errno, std::string("cannot ") + what + " " + path.string());
}

// A name that no other thread, and no other process that lives, takes.
std::string temporary_beside(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> last{0};
  return path.string() + ".hearth-" + std::to_string(::getpid()) + "-" +
         std::to_string(std::random_device{}()) + "-" + std::to_string(++last);
}

} // namespace

expected<std::string> read_whole_file(const std::filesystem::path& path, std::size_t most) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail(cannot("open", path));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail(cannot("read", path));
  if (!S_ISREG(status.st_mode))
    return fail(errc::invalid_argument, path.string() + " is no regular file");
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const auto count = ::read(file.get(), chunk.data(), chunk.size());
    if (count == 0) return bytes;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(cannot("read", path));
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most)
      return fail(errc::too_large,
                  path.string() + " has more than " + std::to_string(most) + " bytes");
  }
}

expected<void> replace_whole_file(const std::filesystem::path& path, std::string_view bytes) {
  const auto temporary = temporary_beside(path);
  const descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return fail(cannot("write", path));
  auto written = write_all(file.get(), bytes);
  if (!written)
    written = fail(written.error().within(path.string()));
  else if (::fsync(file.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    written = fail(cannot("write", path));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

} // namespace hearth
