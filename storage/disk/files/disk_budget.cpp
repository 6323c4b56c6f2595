#include "storage/disk/files/disk_budget.hpp"

#include "storage/disk/head/temporary_files.hpp"

#include <algorithm>

namespace hearth::storage::disk {

disk_use disk_budget::measure() const {
  disk_use use;
  std::uint64_t lowest = 0;
  const auto names = files_.names();
  if (!files_.head.load(head_word::oldest, lowest)) lowest = 0;
  for (const auto& name : names) {
    struct stat about {};
    if (files_.system.status_at(files_.directory.get(), name.c_str(), about) < 0) continue;
    auto bytes = static_cast<std::uint64_t>(about.st_blocks) * 512;
    // A file that is being written will take its whole size.
    if (name.ends_with(temporary_suffix))
      bytes = std::max(bytes, static_cast<std::uint64_t>(about.st_size));
    const auto segment = segment_number(name);
    const bool retired = segment != 0 && segment < lowest;
    if (retired && about.st_nlink > 1) bytes = 0; // its other name counts the blocks
    use.bytes += bytes;
    if (retired) use.retired_bytes += bytes;
    if (segment != 0) use.segments.push_back(segment);
  }
  std::sort(use.segments.begin(), use.segments.end());
  return use;
}

std::uint64_t disk_budget::limit(const disk_use& use) const noexcept {
  const auto& config = files_.config;
  if (config.max_budget_bytes == 0) return config.budget_bytes;
  const auto free = files_.system.free_bytes(files_.directory.get());
  const auto tenth = (free / config.shards + use.bytes) / 10;
  const auto share = std::max(tenth, config.min_budget_bytes);
  const bool is_full = free < 2 * files_.roll_limit();
  return std::min(is_full ? std::max(share, use.bytes + 2 * files_.roll_limit()) : share,
                  config.max_budget_bytes);
}

bool disk_budget::is_bare(const disk_use& use) const noexcept {
  const auto first = std::lower_bound(use.segments.begin(), use.segments.end(), files_.oldest());
  return use.segments.end() - first <= 1 && files_.tail().offset == first_record_offset;
}

} // namespace hearth::storage::disk
