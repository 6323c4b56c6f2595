#include "runtime/os/files/rereadable_file.hpp"

#include "runtime/os/files/plain_file.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hearth::os {
namespace {

error cannot(const char* what, const std::string& name) {
  const auto why = error_of_errno(errno, std::string("cannot ") + what + " " + name);
  return why.code() == errc::not_found ? error{errc::invalid_argument, why.text()} : why;
}

// A file without a name, which only this process can read.
expected<descriptor> make_temporary() {
  std::error_code problem;
  const auto folder = std::filesystem::temp_directory_path(problem);
  if (problem) return fail(errc::io, "no directory for temporary files: " + problem.message());
  descriptor unnamed(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (unnamed) return unnamed;
  auto pattern = (folder / "hearth-XXXXXX").string(); // for file systems without unnamed files
  descriptor named(::mkostemp(pattern.data(), O_CLOEXEC));
  if (!named) return fail(cannot("make a temporary file in", folder.string()));
  ::unlink(pattern.c_str());
  return named;
}

expected<std::uint64_t> copy_all(int from, int to, const std::string& name) {
  std::array<char, 1 << 16> chunk{};
  for (std::uint64_t size = 0;;) {
    const auto count = ::read(from, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(cannot("read", name));
    if (count == 0) return size;
    size += static_cast<std::uint64_t>(count);
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(count));
    if (auto kept = write_all(to, bytes); !kept)
      return fail(kept.error().within("keeping " + name + " in a temporary file"));
  }
}

} // namespace

expected<rereadable_file> rereadable_file::open(const std::string& path) {
  const bool is_stdin = path == "-";
  const auto name = is_stdin ? std::string("stdin") : path;
  auto file = open_input(is_stdin ? "/dev/stdin" : path);
  if (!file && file.error().code() == errc::not_found)
    return fail(errc::invalid_argument, file.error().text());
  if (!file) return fail(file.error());
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return fail(cannot("open", name));
  if (S_ISDIR(status.st_mode)) return fail(check_regular(name, status.st_mode).error());
  if (S_ISREG(status.st_mode) && ::lseek(file->get(), 0, SEEK_CUR) == 0)
    return rereadable_file(name, std::move(*file), static_cast<std::uint64_t>(status.st_size));
  auto kept = make_temporary();
  if (!kept) return fail(kept.error());
  const auto size = copy_all(file->get(), kept->get(), name);
  if (!size) return fail(size.error());
  return rereadable_file(name, std::move(*kept), *size);
}

expected<std::size_t> rereadable_file::read(char* to, std::size_t max_bytes) {
  for (;;) {
    const auto count = ::pread(file_.get(), to, max_bytes, static_cast<off_t>(position_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(cannot("read", name_));
    position_ += static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }
}

} // namespace hearth::os
