#include "storage/disk/store/recover_description.hpp"

#include "storage/disk/head/head.hpp"
#include "storage/disk/segment/segment_windows.hpp"
#include "storage/disk/store/store_directory.hpp"
#include "storage/hash/copy_hash.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <fcntl.h>
#include <map>
#include <string>
#include <vector>

namespace hearth::storage::disk {
namespace {

constexpr unsigned max_shards = 256;

// The description in a head's words. None of the words that it uses may be damaged.
std::optional<store_description> description_in(const head_page& words) {
  std::uint64_t low = 0, high = 0, shards = 0, segment_bytes = 0;
  if (!words.load(head_word::store_low, low) || !words.load(head_word::store_high, high) ||
      !words.load(head_word::shards, shards) ||
      !words.load(head_word::segment_bytes, segment_bytes))
    return std::nullopt;
  store_description d;
  d.shards = static_cast<std::uint32_t>(shards);
  d.store_id = high << 32 | low;
  d.segment_bytes = segment_bytes;
  d.sum = sum_of(d);
  return is_usable(d) ? std::optional(d) : std::nullopt;
}

std::optional<store_description> description_in_head(file_system& files, const file& shard) {
  const file head(files, files.open_at(shard.get(), "head", O_RDONLY | O_NOFOLLOW, 0));
  alignas(8) std::array<char, page_bytes> bytes{};
  if (!head || read_fully(files, head.get(), bytes.data(), bytes.size(), 0) !=
                   static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  return description_in(head_page(bytes.data()));
}

// The header values of the segments of all shards.
struct segment_headers {
  std::map<std::uint64_t, unsigned> stores; // number of segments by store
  std::uint64_t largest = 0;                // size of the largest shared segment
  std::uint32_t shards = 0;

  void read_all(file_system& files, const file& shard) {
    std::vector<std::string> names;
    files.list(shard.get(), names);
    for (const auto& name : names) {
      if (segment_number(name) == 0) continue;
      const file one(files, files.open_at(shard.get(), name.c_str(), O_RDONLY | O_NOFOLLOW, 0));
      segment_header header;
      struct stat about {};
      if (!one || files.status(one.get(), about) < 0 ||
          read_fully(files, one.get(), &header, sizeof header, 0) != sizeof header ||
          header.magic != segment_magic || header.format != format_version ||
          header.sum != hash_seeded(&header, offsetof(segment_header, sum), 0))
        continue;
      ++stores[header.store_id];
      if (header.large == 0) largest = std::max(largest, static_cast<std::uint64_t>(about.st_size));
    }
  }
  std::optional<store_description> likely_description(const store_description& fresh) const {
    const auto most = std::max_element(stores.begin(), stores.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most == stores.end()) return std::nullopt;
    store_description d;
    d.shards = shards;
    d.store_id = most->first;
    d.segment_bytes = std::max(fresh.segment_bytes, std::bit_ceil(largest));
    d.sum = sum_of(d);
    return is_usable(d) ? std::optional(d) : std::nullopt;
  }
};

} // namespace

std::uint64_t sum_of(const store_description& d) noexcept {
  return hash_seeded(&d, offsetof(store_description, sum), 0);
}

bool is_usable(const store_description& d) noexcept {
  return d.magic == store_magic && d.sum == sum_of(d) && d.shards > 0 && d.shards <= max_shards &&
         d.segment_bytes >= min_segment_bytes && d.segment_bytes <= max_segment_bytes;
}

std::optional<store_description> recover_description(file_system& files, const file& folder,
                                                     const store_description& fresh) {
  const file shards(files, files.open_at(folder.get(), "shards", O_RDONLY | O_DIRECTORY, 0));
  if (!shards) return std::nullopt;
  segment_headers segments;
  for (unsigned number = 0; number < max_shards; ++number) {
    const auto name = shard_folder(number);
    const file shard(
        files, files.open_at(shards.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0));
    if (!shard) continue;
    if (const auto found = description_in_head(files, shard)) return found;
    segments.read_all(files, shard);
    segments.shards = number + 1;
  }
  return segments.likely_description(fresh);
}

} // namespace hearth::storage::disk
