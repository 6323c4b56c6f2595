// What happens after a writer was killed (the group it was writing is finished from its records),
// and after a power loss or damage (the index is built anew from the segments).
//
// One rule serves both: the index is what the valid records make it; the highest sequence of a key
// is the truth, a tombstone's truth being that there is none.
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <random>

namespace hearth::storage::disk {
namespace {

// After a head was lost nobody knows which numbers were given out: leave a gap.
constexpr std::uint64_t number_gap = 64;

bool is_process_error(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EACCES;
}

} // namespace

struct shard::survivor {
  std::uint64_t hash;
  std::uint64_t sequence;
  std::uint64_t bytes;
  location where;
  record_kind kind;
};

expected<void> shard::recover() {
  if (!is_in_place())
    return fail(errc::not_found,
                config_.path.string() + " was removed or replaced; open the store again");
  if (!head_.verify() || head_.store_id() != config_.store_id ||
      head_.get(head_word::boot) != config_.boot)
    return rebuild();
  if (!current_index()) {
    int error = 0;
    index_table::map(files_, directory_.get(), head_.get(head_word::generation), config_.store_id,
                     true, error);
    if (is_process_error(error)) return fail(system_error(error, "map the index of", config_.path));
    if (!current_index()) return rebuild();
  }
  if (head_.get(head_word::pending) != 0) return finish_pending();
  if (head_.get(head_word::reserved) != head_.get(head_word::active))
    head_.set(head_word::reserved, head_.get(head_word::active));
  if (head_.get(head_word::index_stale) != 0) {
    head_.set(head_word::index_stale, 0);
    head_.set(head_word::index_sum, current_index()->sum());
  }
  return {};
}

// A writer was killed between `pending` and the end of its group. Whatever of it is whole is
// published now; nobody was told that it was not.
expected<void> shard::finish_pending() {
  const auto start = head_.place(head_word::pending);
  const auto reserved = head_.place(head_word::reserved);
  const bool shared = start.segment == tail().segment;
  segment_scan scan(windows_.place(), start.segment);
  if (is_process_error(scan.error()))
    return fail(system_error(scan.error(), "read", path_of(segment_name(start.segment))));
  scan.limit(start.offset, shared ? reserved.offset : ~std::uint64_t{0});
  std::vector<location> torn;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  record_header header;
  location where;
  while (scan.next(header, where)) {
    if (header.kind != record_kind::value && header.kind != record_kind::tombstone) continue;
    if (!scan.is_intact(header, where)) {
      if (scan.error()) break;
      torn.push_back(where);
      ranges.emplace_back(where.offset, where.offset + record_size(header));
      continue;
    }
    auto applied = apply_record(header, scan.identity(header, where), where);
    if (!applied) return applied;
  }
  if (scan.error() && scan.error() != ENOENT)
    return fail(system_error(scan.error(), "read", path_of(segment_name(start.segment))));
  if (shared) head_.set(head_word::active, reserved);
  ranges.insert(ranges.end(), scan.damage().begin(), scan.damage().end());
  if (shared && !ranges.empty()) {
    if (auto taken = take_out(torn, false); !taken) return taken;
    if (!write_hole(start))
      for (const auto& [begin, end] : ranges)
        zero(start.segment, begin, end);
  }
  head_.set(head_word::index_stale, 0);
  head_.set(head_word::index_sum, current_index()->sum());
  head_.set(head_word::epoch, head_.get(head_word::epoch) + 1);
  head_.set(head_word::pending, 0);
  return {};
}

// Says that what is torn between `start` and the tail was never acknowledged, so that nobody takes
// it for damage later. False when there is no room for it.
bool shard::write_hole(location start) {
  const auto at = tail();
  record_header hole;
  if (at.offset + record_size(hole) > segment_limit() || !open_active() ||
      !allocate_to(at.offset + record_size(hole)))
    return false;
  hole.kind = record_kind::hole;
  hole.hash = start.offset;
  hole.sequence = head_.get(head_word::sequence);
  hole.identity_sum = hole.metadata_sum = hole.payload_sum = hash_bytes(std::string_view{});
  seal(hole, config_.store_id, at);
  const location end{at.segment, at.offset + record_size(hole)};
  head_.set(head_word::reserved, end);
  if (write_fully(files_, active_file_->get(), &hole, sizeof hole, at.offset).error) return false;
  head_.set(head_word::active, end);
  return true;
}

expected<void> shard::apply_record(const record_header& header, const std::string& identity,
                                   location where) {
  const auto cache =
      cache_id::make(std::string_view(identity).substr(0, header.name_bytes),
                     std::string_view(identity).substr(header.name_bytes, header.version_bytes));
  if (!cache) return {}; // no name that anyone could ask for
  const auto key = std::string_view(identity).substr(header.name_bytes + header.version_bytes);
  const auto old = find_for_write(entry_key(*cache, key, header.hash));
  // Of two names of one large value's segment the later one counts.
  if (old.where &&
      (old.header.sequence > header.sequence ||
       (old.header.sequence == header.sequence && slot_segment(old.word) >= where.segment)))
    return {};
  slot* place = old.where;
  if (header.kind == record_kind::tombstone) {
    if (place) place->store(0, std::memory_order_release);
    return {};
  }
  for (unsigned attempt = 0; !place && attempt < 4; ++attempt) {
    place = claim_slot(word_set{}, header.hash);
    if (place) break;
    auto grown = is_flooded() ? drop_oldest_of(header.hash) : grow();
    if (!grown) return grown;
  }
  if (place) place->store(make_slot(header.hash, where), std::memory_order_release);
  return {};
}

expected<std::vector<shard::survivor>> shard::collect(const std::vector<std::uint64_t>& segments,
                                                      bool trust_head,
                                                      std::vector<location>& torn) {
  std::vector<survivor> all;
  for (const auto segment : segments) {
    segment_scan scan(windows_.place(), segment);
    int error = scan.error();
    if (trust_head && is_wholly_synced(segment, scan)) {
      error = for_each_entry(
          windows_.place(), segment, ~std::uint64_t{0}, [&](const entry_place& entry) {
            all.push_back({entry.hash, entry.sequence, entry.bytes, entry.where, entry.kind});
          });
    } else if (!error) {
      const auto synced = trust_head ? head_.place(head_word::synced) : location{};
      record_header header;
      location where;
      while (scan.next(header, where)) {
        if (header.kind != record_kind::value && header.kind != record_kind::tombstone) continue;
        const auto end = where.offset + record_size(header);
        if ((segment == synced.segment && end <= synced.offset) || scan.is_intact(header, where))
          all.push_back({header.hash, header.sequence, record_size(header), where, header.kind});
        else if (!scan.error())
          torn.push_back(where);
      }
      error = scan.error();
    }
    if (is_process_error(error))
      return fail(system_error(error, "read", path_of(segment_name(segment))));
  }
  return all;
}

// By the head alone, whose words may be of different age after a power loss: `synced_files` is
// believed of what cannot have been the active segment when it was stored.
bool shard::is_wholly_synced(std::uint64_t segment, const segment_scan& scan) const {
  const auto active_then = head_.place(head_word::synced).segment;
  return segment != active_then && segment < head_.get(head_word::synced_files) &&
         (segment < active_then || scan.is_large());
}

// Records whose header survived and whose bytes did not are none from now on: when the segment is
// synced next, every header in it is believed.
expected<void> shard::take_out(const std::vector<location>& torn, bool durably) {
  constexpr std::array<char, unit_bytes> zeros{};
  for (std::size_t i = 0; i < torn.size(); ++i) {
    const auto name = segment_name(torn[i].segment);
    const file out(files_,
                   files_.open_at(directory_.get(), name.c_str(), O_WRONLY | O_NOFOLLOW, 0));
    if (!out) return fail(system_error(out.error(), "open", path_of(name)));
    for (;; ++i) {
      const auto wrote = write_fully(files_, out.get(), zeros.data(), zeros.size(), torn[i].offset);
      if (wrote.error) return fail(system_error(wrote.error, "write", path_of(name)));
      if (i + 1 == torn.size() || torn[i + 1].segment != torn[i].segment) break;
    }
    if (const int synced = durably ? files_.sync(out.get()) : 0; synced < 0)
      return fail(system_error(-synced, "sync", path_of(name)));
  }
  return {};
}

bool shard::same_key(location a, location b) {
  const auto identity = [&](location where) -> std::optional<std::string> {
    segment_reader from(windows_, where.segment, 0);
    std::string scratch;
    record_header header;
    const char* bytes = from.peek(where.offset, sizeof header, scratch);
    if (!bytes) return std::nullopt;
    std::memcpy(&header, bytes, sizeof header);
    const char* text = from.peek(where.offset + sizeof header, header.identity_bytes(), scratch);
    if (!text) return std::nullopt;
    return std::to_string(header.name_bytes) + "," + std::to_string(header.version_bytes) + ":" +
           std::string(text, static_cast<std::size_t>(header.identity_bytes()));
  };
  const auto first = identity(a);
  const auto second = identity(b);
  return !first || !second || *first == *second;
}

// Leaves one survivor a key: the newest, and none when that is a tombstone.
void shard::keep_newest(std::vector<survivor>& all) {
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

expected<void> shard::fill_index(const std::vector<survivor>& all, std::uint64_t generation) {
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
  if (config_.read_only) {
    private_index_ = index_table::in_memory(buckets_for(all.size()));
    fill(*private_index_);
    index_.store(private_index_.get(), std::memory_order_release);
    return {};
  }
  std::unique_ptr<index_table> made;
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    const auto buckets = buckets_for(all.size()) << attempt;
    made.reset();
    int error =
        index_table::create(files_, directory_.get(), generation, config_.store_id, buckets);
    if (!error)
      made = index_table::map(files_, directory_.get(), generation, config_.store_id, true, error);
    if (!made) return fail(system_error(error, "make", path_of(index_name(generation))));
    if (fill(*made) == 0) break;
  }
  head_.set(head_word::index_sum, made->sum());
  head_.set(head_word::generation, generation);
  adopt_index(std::move(made));
  return {};
}

// With the lock held. `boot` goes last: a rebuild that is killed is begun again by the next.
expected<void> shard::rebuild() {
  if (auto cleared = mark_.remove_before_write(); !cleared) return cleared;
  const bool trust_head = head_.verify() && head_.store_id() == config_.store_id;
  const auto use = measure();
  if (!use.segments.empty()) counters_.add(counter::rebuilds);
  std::vector<location> torn;
  auto all = collect(use.segments, trust_head, torn);
  if (!all) return fail(all.error());
  if (auto taken = take_out(torn, true); !taken) return taken;
  std::uint64_t sequence = trust_head ? head_.get(head_word::sequence) : 0;
  for (const auto& one : *all)
    sequence = std::max(sequence, one.sequence);
  keep_newest(*all);
  std::uint64_t live = 0;
  for (const auto& one : *all)
    live += one.bytes;
  std::uint64_t generation = trust_head ? head_.get(head_word::generation) : 0;
  std::vector<std::string> names;
  files_.list(directory_.get(), names);
  for (const auto& name : names)
    if (name.starts_with("index."))
      generation = std::max<std::uint64_t>(
          generation, std::strtoull(name.c_str() + 6, nullptr, 10) % (1u << 30));
  const auto highest = use.segments.empty() ? 0 : use.segments.back();
  const auto unknown = highest == 0 ? 1 : highest + number_gap;
  const auto synced = trust_head ? head_.get(head_word::synced) : 0;
  const auto synced_files = trust_head ? head_.get(head_word::synced_files) : 0;
  // Of the head's words some may be older than others: no number that counts as synced is given
  // out.
  const auto next = trust_head ? std::max({head_.get(head_word::next_segment), highest + 1,
                                           synced_files, location::unpack(synced).segment + 1})
                               : unknown;
  const auto epoch = trust_head ? head_.get(head_word::epoch) : std::random_device{}();

  head_.set(head_word::boot, 0);
  head_.set(head_word::magic, head_magic);
  head_.set(head_word::shard, config_.number);
  head_.set(head_word::shards, config_.shards);
  head_.set(head_word::segment_bytes, config_.segment_bytes);
  head_.set(head_word::inode, inode_);
  head_.set_store_id(config_.store_id);
  head_.set(head_word::next_segment, next);
  head_.set(head_word::sequence, sequence);
  head_.set(head_word::live_bytes, live);
  head_.set(head_word::pending, 0);
  head_.set(head_word::index_stale, 0);
  head_.set(head_word::epoch, epoch + 1);
  head_.set(head_word::dropped, nobody_holds_dropped);
  head_.set(head_word::synced, synced);
  head_.set(head_word::synced_files, synced_files);
  head_.set(head_word::sync_failed, 0);
  head_.set(head_word::retired_after, 0);
  head_.set(head_word::oldest, use.segments.empty() ? next : use.segments.front());
  // What was the tail may be torn: go on in a segment of its own.
  active_file_.reset();
  head_.set(head_word::active, location{next, first_record_offset});
  head_.set(head_word::reserved, location{next, first_record_offset});
  if (auto made = fill_index(*all, generation + 1); !made) return made;
  if (auto begun = begin_segment(); !begun) return begun;
  for (const auto& name : names)
    if (name.starts_with("index.") && name != index_name(generation + 1))
      files_.remove_at(directory_.get(), name.c_str());
  head_.set(head_word::boot, config_.boot);
  // What was evicted may be back.
  if (!has_room(measure(), 0)) eviction_due_.store(true, std::memory_order_relaxed);
  return {};
}

expected<void> shard::rebuild_privately() {
  counters_.add(counter::rebuilds);
  std::vector<location> torn; // stays as it is: this one may not write
  auto all = collect(measure().segments, false, torn);
  if (!all) return fail(all.error());
  keep_newest(*all);
  return fill_index(*all, 0);
}

} // namespace hearth::storage::disk
