#include "storage/disk/head/temporary_files.hpp"

#include <atomic>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <vector>

namespace hearth::storage::disk {

std::string temporary_name(std::string_view what, std::uint64_t opening_id) {
  static std::atomic<std::uint64_t> count{0};
  // Names of one process sort in the order in which they were made.
  return fmt::format("{}.{}.{:016x}.{:x}{}", what, ::getpid(), count.fetch_add(1), opening_id,
                     temporary_suffix);
}

void remove_abandoned_files(file_system& system, int directory) {
  std::vector<std::string> names;
  system.list(directory, names);
  for (const auto& name : names) {
    if (!name.ends_with(temporary_suffix)) continue;
    const file one(system, system.open_at(directory, name.c_str(), O_RDWR | O_NOFOLLOW, 0));
    if (one && system.try_lock(one.get(), true) == 0) system.remove_at(directory, name.c_str());
  }
}

} // namespace hearth::storage::disk
