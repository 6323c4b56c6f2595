#include "runtime/files/file_replacement.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <random>
#include <unistd.h>
#include <utility>

namespace hearth {
namespace {

error cannot_write(const std::filesystem::path& path) {
  return error_of_errno(errno, "cannot write " + path.string());
}

// A name that no other thread, and no other process that lives, takes.
std::string temporary_beside(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> last{0};
  return path.string() + ".hearth-" + std::to_string(::getpid()) + "-" +
         std::to_string(std::random_device{}()) + "-" + std::to_string(++last);
}

} // namespace

expected<file_replacement> file_replacement::begin(const std::filesystem::path& path) {
  auto temporary = temporary_beside(path);
  descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return fail(cannot_write(path));
  return file_replacement(path, std::move(temporary), std::move(file));
}

file_replacement::~file_replacement() {
  if (file_) ::unlink(temporary_.c_str());
}

expected<void> file_replacement::write(std::string_view bytes) {
  auto written = write_all(file_.get(), bytes);
  if (!written) return fail(written.error().within(path_.string()));
  return written;
}

expected<void> file_replacement::commit() {
  if (::fsync(file_.get()) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0)
    return fail(cannot_write(path_));
  file_.reset();
  return {};
}

} // namespace hearth
