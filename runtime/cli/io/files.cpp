#include "runtime/cli/io/files.hpp"

#include "runtime/os/files/descriptor.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth::cli {
namespace {

constexpr std::size_t max_input_bytes = std::size_t{4} << 30;

error cannot(const char* what, const std::string& path) {
  const auto why = error_of_errno(errno, std::string("cannot ") + what + " " + path);
  return why.code() == errc::not_found ? error{errc::invalid_argument, why.text()} : why;
}

expected<void> write_in_place(const std::string& path, std::string_view bytes) {
  const os::descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return fail(cannot("open", path));
  auto written = os::write_all(file.get(), bytes);
  if (!written) return fail(written.error().within(path));
  return written;
}

} // namespace

expected<std::string> read_input(const std::string& path) {
  const os::descriptor file(path == "-" ? ::dup(STDIN_FILENO)
                                        : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail(cannot("open", path));
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const auto count = ::read(file.get(), chunk.data(), chunk.size());
    if (count == 0) return bytes;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EISDIR)
      return fail(errc::invalid_argument, path + " is a directory; a file is expected");
    if (count < 0) return fail(cannot("read", path));
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
    if (bytes.size() > max_input_bytes) return fail(errc::too_large, path + " has more than 4 GiB");
  }
}

expected<void> write_file(const std::string& path, std::string_view bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return write_in_place(path, bytes);
  auto written = os::replace_whole_file(path, bytes);
  if (!written && written.error().code() == errc::not_found)
    return fail(errc::invalid_argument, written.error().text());
  return written;
}

} // namespace hearth::cli
