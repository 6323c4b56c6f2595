#include "runtime/os/files/whole_file.hpp"

#include "runtime/os/files/file_problem.hpp"
#include "runtime/os/files/pending_file.hpp"
#include "runtime/os/files/plain_file.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth::os {
namespace {

constexpr std::size_t min_growth = 1 << 16; // of a buffer for a file whose size is not known

} // namespace

expected<std::string> read_whole_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto file = open_regular(path);
  if (!file) return fail(file.error());
  return read_rest(*file, path, max_bytes);
}

expected<std::string> read_rest(const descriptor& file, const std::filesystem::path& path,
                                std::size_t max_bytes) {
  struct stat about {};
  const bool has_size = ::fstat(file.get(), &about) == 0 && S_ISREG(about.st_mode);
  const auto expected_bytes = has_size ? static_cast<std::size_t>(about.st_size) : 0;
  std::string bytes;
  std::size_t size = 0;
  // One byte more than is expected shows the end without a second buffer.
  bytes.resize(std::min(expected_bytes, max_bytes) + 1);
  for (;;) {
    const auto count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(cannot("read", path));
    size += static_cast<std::size_t>(count);
    if (size > max_bytes)
      return fail(errc::too_large,
                  path.string() + " has more than " + std::to_string(max_bytes) + " bytes");
    if (count == 0) {
      bytes.resize(size);
      return bytes;
    }
    if (size == bytes.size()) bytes.resize(size * 2 + min_growth);
  }
}

expected<void> replace_whole_file(const std::filesystem::path& path, std::string_view bytes) {
  auto file = pending_file::begin(path);
  if (!file) return fail(file.error());
  if (auto written = file->write(bytes); !written) return written;
  if (auto kept = file->sync(); !kept) return kept;
  return file->commit();
}

} // namespace hearth::os
