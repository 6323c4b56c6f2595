#include "runtime/os/files/whole_file.hpp"

#include "runtime/os/files/file_problem.hpp"
#include "runtime/os/files/pending_file.hpp"
#include "runtime/os/files/plain_file.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <unistd.h>

namespace hearth::os {

expected<std::string> read_whole_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto file = open_regular(path);
  if (!file) return fail(file.error());
  return read_rest(*file, path, max_bytes);
}

expected<std::string> read_rest(const descriptor& file, const std::filesystem::path& path,
                                std::size_t max_bytes) {
  std::string bytes;
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const auto count = ::read(file.get(), chunk.data(), chunk.size());
    if (count == 0) return bytes;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(cannot("read", path));
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
    if (bytes.size() > max_bytes)
      return fail(errc::too_large,
                  path.string() + " has more than " + std::to_string(max_bytes) + " bytes");
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
