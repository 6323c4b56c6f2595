#include "storage/disk/repair/index_rebuild.hpp"

#include "messages/random_number.hpp"
#include "storage/disk/os/errors.hpp"
#include "storage/disk/segment/segment_reader.hpp"
#include "storage/disk/segment/segment_table.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>

namespace hearth::storage::disk {
namespace {

// How many segment numbers are skipped after a head was lost: the numbers in use are not known
// then.
constexpr std::uint64_t number_gap = 64;
constexpr std::string_view index_prefix = "index.";

std::uint64_t highest_generation(const std::vector<std::string>& names, std::uint64_t known) {
  constexpr std::uint64_t limit = 1u << 30; // a file name may contain any number
  for (const auto& name : names)
    if (name.starts_with(index_prefix))
      known = std::max<std::uint64_t>(
          known, std::strtoull(name.c_str() + index_prefix.size(), nullptr, 10) % limit);
  return known;
}

} // namespace

// A record that may be its key's newest.
struct index_rebuild::survivor {
  std::uint64_t hash;
  std::uint64_t sequence;
  std::uint64_t bytes;
  location where;
  record_kind kind;
};

// The values of a new head.
struct index_rebuild::head_values {
  std::uint64_t generation = 0; // the highest generation ever used
  std::uint64_t oldest = 0;
  std::uint64_t next_segment = 0;
  std::uint64_t sequence = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t epoch = 0;
  std::uint64_t synced = 0;
  std::uint64_t synced_files = 0;
};

expected<std::vector<index_rebuild::survivor>>
index_rebuild::collect(const std::vector<std::uint64_t>& segments, bool trust_head,
                       std::vector<location>& torn) const {
  std::vector<survivor> all;
  const auto synced = trust_head ? files_.head.place(head_word::synced) : location{};
  for (const auto segment : segments) {
    segment_scan scan(files_.place(), segment);
    int error = scan.error();
    if (trust_head && is_wholly_synced(segment, scan))
      error =
          for_each_entry(files_.place(), segment, ~std::uint64_t{0}, [&](const entry_place& entry) {
            all.push_back({entry.hash, entry.sequence, entry.bytes, entry.where, entry.kind});
          });
    else if (!error)
      error = collect_scanned(scan, synced, all, torn);
    if (is_process_error(error))
      return fail(system_error(error, "read", files_.path_of_segment(segment)));
  }
  return all;
}

// Collects the records of a segment: below `synced` those with a right header, above it only intact
// ones. Returns 0 or an errno.
int index_rebuild::collect_scanned(segment_scan& scan, location synced, std::vector<survivor>& all,
                                   std::vector<location>& torn) const {
  record_header header;
  location where;
  while (scan.next(header, where)) {
    if (header.kind != record_kind::value && header.kind != record_kind::tombstone) continue;
    const auto bytes = record_size(header);
    const bool is_synced = where.segment == synced.segment && where.offset + bytes <= synced.offset;
    if (is_synced || scan.is_intact(header, where))
      all.push_back({header.hash, header.sequence, bytes, where, header.kind});
    else if (!scan.error())
      torn.push_back(where);
  }
  return scan.error();
}

// Uses the head only, whose words may be of different age after a power loss: `synced_files` is
// trusted for segments that cannot have been active when it was stored.
bool index_rebuild::is_wholly_synced(std::uint64_t segment, const segment_scan& scan) const {
  const auto active_then = files_.head.place(head_word::synced).segment;
  return segment != active_then && segment < files_.head.get(head_word::synced_files) &&
         (segment < active_then || scan.is_large());
}

// Name, version and key of a record, with their lengths.
std::optional<std::string> index_rebuild::identity_at(location where) {
  segment_reader from(files_.windows, where.segment, 0);
  std::string scratch;
  record_header header;
  const char* bytes = from.peek(where.offset, sizeof header, scratch);
  if (!bytes) return std::nullopt;
  std::memcpy(&header, bytes, sizeof header);
  const char* text = from.peek(where.offset + sizeof header, header.identity_bytes(), scratch);
  if (!text) return std::nullopt;
  return std::to_string(header.name_bytes) + "," + std::to_string(header.version_bytes) + ":" +
         std::string(text, static_cast<std::size_t>(header.identity_bytes()));
}

bool index_rebuild::same_key(location a, location b) {
  const auto first = identity_at(a);
  const auto second = identity_at(b);
  return !first || !second || *first == *second;
}

// Keeps one survivor a key: the newest; none when the newest is a tombstone.
void index_rebuild::keep_newest(std::vector<survivor>& all) {
  std::sort(all.begin(), all.end(), [](const survivor& a, const survivor& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    return a.sequence != b.sequence ? a.sequence > b.sequence : a.where.segment > b.where.segment;
  });
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto first = kept;
    std::size_t end = begin;
    for (; end < all.size() && all[end].hash == all[begin].hash; ++end) {
      const bool known =
          std::any_of(all.begin() + static_cast<std::ptrdiff_t>(first),
                      all.begin() + static_cast<std::ptrdiff_t>(kept),
                      [&](const survivor& newer) { return same_key(newer.where, all[end].where); });
      if (!known) all[kept++] = all[end];
    }
    begin = end;
  }
  all.resize(kept);
  std::erase_if(all, [](const survivor& one) { return one.kind == record_kind::tombstone; });
}

expected<void> index_rebuild::make_index(const std::vector<survivor>& all,
                                         std::uint64_t generation) {
  constexpr unsigned max_attempts = 3; // each attempt doubles the buckets
  const auto fill = [&](const index_table& table) {
    std::size_t lost = 0;
    for (const auto& one : all) {
      slot* place =
          table.find_free(one.hash, [](const slot*, std::uint64_t word) { return word == 0; });
      if (place)
        place->store(make_slot(one.hash, one.where), std::memory_order_relaxed);
      else
        ++lost;
    }
    return lost;
  };
  if (files_.config.read_only) {
    auto made = index_table::in_memory(buckets_for(all.size()));
    fill(*made);
    files_.index.use_private(std::move(made));
    return {};
  }
  std::unique_ptr<index_table> made;
  for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
    int error = 0;
    made.reset();
    made = files_.index.make(generation, buckets_for(all.size()) << attempt, error);
    if (!made) return fail(system_error(error, "make", files_.path_of(index_name(generation))));
    if (fill(*made) == 0) break;
  }
  files_.head.set(head_word::index_sum, made->sum());
  files_.head.set(head_word::generation, generation);
  files_.index.adopt(std::move(made));
  return {};
}

index_rebuild::head_values index_rebuild::values_after(const std::vector<survivor>& all,
                                                       const std::vector<std::uint64_t>& segments,
                                                       bool trust_head) const {
  head_values values;
  const auto& head = files_.head;
  const auto highest = segments.empty() ? 0 : segments.back();
  if (trust_head) {
    values.generation = head.get(head_word::generation);
    values.sequence = head.get(head_word::sequence);
    values.synced = head.get(head_word::synced);
    values.synced_files = head.get(head_word::synced_files);
    values.epoch = head.get(head_word::epoch) + 1;
    // Some of the head's words may be older than others: do not reuse a number that counts as
    // synced.
    values.next_segment =
        std::max({head.get(head_word::next_segment), highest + 1, values.synced_files,
                  location::unpack(values.synced).segment + 1});
  } else {
    values.epoch = (random_number() & 0xffffffff) + 1;
    values.next_segment = highest == 0 ? 1 : highest + number_gap;
  }
  values.oldest = segments.empty() ? values.next_segment : segments.front();
  for (const auto& one : all)
    values.sequence = std::max(values.sequence, one.sequence);
  return values;
}

void index_rebuild::store(const head_values& values) noexcept {
  auto& head = files_.head;
  head.set(head_word::boot, 0);
  head.set(head_word::magic, head_magic);
  head.set(head_word::shard, files_.config.number);
  head.set(head_word::shards, files_.config.shards);
  head.set(head_word::segment_bytes, files_.config.segment_bytes);
  head.set(head_word::inode, files_.opened_head.inode());
  head.set_store_id(files_.config.store_id);
  head.set(head_word::next_segment, values.next_segment);
  head.set(head_word::sequence, values.sequence);
  head.set(head_word::live_bytes, values.live_bytes);
  head.set(head_word::pending, 0);
  head.set(head_word::index_stale, 0);
  head.set(head_word::epoch, values.epoch);
  head.set(head_word::dropped, nobody_holds);
  head.set(head_word::synced, values.synced);
  head.set(head_word::synced_files, values.synced_files);
  head.set(head_word::sync_failed, 0);
  head.set(head_word::retired_after, 0);
  head.set(head_word::oldest, values.oldest);
  // The old tail may be torn: continue in a new segment.
  head.set(head_word::active, location{values.next_segment, first_record_offset});
  head.set(head_word::reserved, location{values.next_segment, first_record_offset});
}

expected<void> index_rebuild::run() {
  if (auto cleared = files_.mark.remove_before_write(); !cleared) return cleared;
  const bool trust_head = files_.is_head_usable();
  const auto segments = space_.measure().segments;
  if (!segments.empty()) files_.counts.add(counter::rebuilds);
  std::vector<location> torn;
  auto all = collect(segments, trust_head, torn);
  if (!all) return fail(all.error());
  if (auto erased = erase_headers(files_, torn, true); !erased) return erased;
  auto values = values_after(*all, segments, trust_head);
  keep_newest(*all);
  for (const auto& one : *all)
    values.live_bytes += one.bytes;
  const auto names = files_.names();
  const auto generation = highest_generation(names, values.generation) + 1;
  active_.close();
  store(values);
  if (auto made = make_index(*all, generation); !made) return made;
  if (auto begun = active_.begin_next(); !begun) return begun;
  for (const auto& name : names)
    if (name.starts_with(index_prefix) && name != index_name(generation)) files_.remove(name);
  files_.head.set(head_word::boot, files_.config.boot);
  // Evicted segments may be back after a power loss.
  if (!space_.has_room(space_.measure(), 0))
    files_.eviction_due.store(true, std::memory_order_relaxed);
  return {};
}

expected<void> index_rebuild::run_in_memory() {
  files_.counts.add(counter::rebuilds);
  std::vector<location> torn; // stays unchanged: this process may not write
  auto all = collect(space_.measure().segments, false, torn);
  if (!all) return fail(all.error());
  keep_newest(*all);
  return make_index(*all, 0);
}

expected<void> erase_headers(const shard_files& files, const std::vector<location>& torn,
                             bool durably) {
  constexpr std::array<char, unit_bytes> zeros{};
  for (std::size_t i = 0; i < torn.size(); ++i) {
    const auto path = files.path_of_segment(torn[i].segment);
    const file out = open_segment_to_change(files.place(), torn[i].segment);
    if (!out) return fail(system_error(out.error(), "open", path));
    for (;; ++i) {
      const auto wrote =
          write_fully(files.system, out.get(), zeros.data(), zeros.size(), torn[i].offset);
      if (wrote.error) return fail(system_error(wrote.error, "write", path));
      if (i + 1 == torn.size() || torn[i + 1].segment != torn[i].segment) break;
    }
    if (const int synced = durably ? files.system.sync(out.get()) : 0; synced < 0)
      return fail(system_error(-synced, "sync", path));
  }
  return {};
}

} // namespace hearth::storage::disk
