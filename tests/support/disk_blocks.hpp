// The disk space of a directory, as `du` counts it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <sys/stat.h>

namespace hearth::test {

/// Bytes of all blocks of the regular files below `path`; a file with several names counts once.
inline std::uint64_t blocks_under(const std::filesystem::path& path) {
  std::uint64_t total = 0;
  std::set<ino_t> seen;
  std::error_code gone; // other processes may remove files meanwhile
  for (std::filesystem::recursive_directory_iterator one(path, gone), end; one != end;
       one.increment(gone)) {
    struct stat about {};
    if (::lstat(one->path().c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
        seen.insert(about.st_ino).second)
      total += static_cast<std::uint64_t>(about.st_blocks) * 512;
  }
  return total;
}

} // namespace hearth::test
