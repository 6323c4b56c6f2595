#include "messages/key.hpp"
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <zstd.h>

namespace hearth::storage::disk {
namespace {

// A group is planned again after the way was cleared for it (a segment begun, the index grown):
// more often than this for one request is a bug, and an error instead of a loop.
constexpr unsigned max_clearings = 8;
constexpr std::uint64_t min_compressed_bytes = 512;
constexpr int compression_level = 3;

} // namespace

error shard::refusal() const {
  if (is_forked())
    return {errc::forked, "cannot write to " + config_.path.string() +
                              " in a forked child: open the store again after the fork"};
  return {errc::read_only, "cannot write to " + config_.path.string() +
                               ": the store is open read-only; open it for writing"};
}

void shard::refuse(write_request& request, const error& why) {
  request.status = write_status::failed;
  request.why = why;
  counters_.add(counter::failed);
}

expected<void> shard::lock_for_writing(std::chrono::milliseconds deadline) {
  if (may_not_write()) return fail(refusal());
  if (!lock_->lock(deadline))
    return fail(errc::busy, "cannot lock " + config_.path.string() + " within " +
                                std::to_string(deadline.count()) +
                                " ms: another process holds it; try again");
  auto ready = recover();
  if (!ready) lock_->unlock();
  return ready;
}

error shard::flaw_of(const write_request& request) const {
  if (shard_of_hash(request.key.hash, config_.shards) != config_.number)
    return {errc::invalid_argument,
            "a write for shard " + std::to_string(shard_of_hash(request.key.hash, config_.shards)) +
                " was given to shard " + std::to_string(config_.number)};
  if (request.key.bytes.size() > max_key_bytes)
    return {errc::too_large, "a key of " + std::to_string(request.key.bytes.size()) +
                                 " bytes is longer than " + std::to_string(max_key_bytes)};
  if (request.kind != write_kind::erase && !request.value)
    return {errc::invalid_argument, "a write of a value came without one"};
  return {};
}

void shard::prepare(const write_request& request, prepared_write& out) {
  auto& header = out.header;
  const auto& cache = *request.key.cache;
  header.name_bytes = static_cast<std::uint8_t>(cache.name().size());
  header.version_bytes = static_cast<std::uint8_t>(cache.version().size());
  header.key_bytes = static_cast<std::uint16_t>(request.key.bytes.size());
  header.hash = request.key.hash;
  std::array<char, max_cache_name_bytes + max_cache_version_bytes + 512> small;
  const auto bytes = header.identity_bytes();
  std::string large;
  if (bytes > small.size()) large.resize(bytes);
  char* identity = large.empty() ? small.data() : large.data();
  char* end = std::copy(cache.name().begin(), cache.name().end(), identity);
  end = std::copy(cache.version().begin(), cache.version().end(), end);
  std::copy(request.key.bytes.begin(), request.key.bytes.end(), end);
  header.identity_sum = hash_bytes(identity, bytes);
  if (request.kind == write_kind::erase) {
    header.kind = record_kind::tombstone;
    header.metadata_sum = header.payload_sum = hash_bytes(std::string_view{});
    return;
  }
  out.payload = request.value.payload();
  header.payload_bytes = out.payload.size();
  if ((config_.compress || request.compress) && out.payload.size() >= min_compressed_bytes) {
    out.compressed.resize(ZSTD_compressBound(out.payload.size()));
    const auto size = ZSTD_compress(out.compressed.data(), out.compressed.size(),
                                    out.payload.data(), out.payload.size(), compression_level);
    if (!ZSTD_isError(size) && size < out.payload.size()) {
      out.compressed.resize(size);
      out.payload = out.compressed;
      header.coding = codec::zstd;
    }
  }
  header.metadata_bytes = static_cast<std::uint32_t>(request.value.metadata_bytes().size());
  header.stored_bytes = out.payload.size();
  header.expires_unix_ms = request.expires_unix_ms;
  header.metadata_sum = hash_bytes(request.value.metadata_bytes());
  header.payload_sum = hash_bytes(out.payload);
  out.large = record_size(header) > large_from();
}

std::uint64_t shard::apply(std::span<write_request> group) {
  const auto moves_before = epoch_moves_;
  std::vector<prepared_write> ready(group.size());
  const auto apply_range = [&](std::size_t begin, std::size_t end) {
    if (begin < end)
      apply_small(group.subspan(begin, end - begin), std::span(ready).subspan(begin, end - begin));
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (may_not_write()) {
      refuse(group[i], refusal());
      continue;
    }
    const auto flaw = flaw_of(group[i]);
    if (flaw.text().empty()) prepare(group[i], ready[i]);
    if (flaw.text().empty() && !ready[i].large) continue;
    apply_range(begin, i);
    begin = i + 1;
    if (flaw.text().empty())
      apply_large(group[i], ready[i]);
    else
      refuse(group[i], flaw);
  }
  if (!may_not_write()) apply_range(begin, group.size());
  return epoch_moves_ - moves_before;
}

void shard::touch_index(std::span<const write_request> group) const noexcept {
  const auto* index = index_.load(std::memory_order_acquire);
  if (!index) return;
  for (const auto& request : group)
    index->touch(request.key.hash);
}

void shard::apply_small(std::span<write_request> group, std::span<prepared_write> ready) {
  constexpr unsigned max_waits = 64; // for room that others took again
  unsigned waits = 0;
  while (!group.empty()) {
    const auto part = std::min(group.size(), max_batch_records);
    touch_index(group.first(part));
    std::size_t done = part;
    if (auto locked = lock_for_writing(config_.lock_deadline); locked) {
      const hold held(*this);
      counters_.add(counter::groups);
      done = append_all(group.first(part), ready.first(part));
    } else {
      for (auto& request : group.first(part))
        refuse(request, locked.error());
    }
    if (done < part) {
      auto room = make_room(room_to_roll());
      if (room && ++waits > max_waits)
        room = fail(errc::busy, "others fill " + config_.path.string() +
                                    " faster than it can be evicted; try again");
      if (!room) refuse(group[done++], room.error());
    }
    group = group.subspan(done);
    ready = ready.subspan(done);
  }
  evict_when_due();
}

// Returns how many are decided: fewer than all when there is no room for the next.
std::size_t shard::append_all(std::span<write_request> group, std::span<prepared_write> ready) {
  std::size_t number = 0;
  unsigned clearings = 0;
  while (number < group.size()) {
    if (auto opened = open_active(); !opened) {
      refuse(group[number++], opened.error());
      continue;
    }
    append_batch work(tail(), group.size() - number);
    work.sequence = head_.get(head_word::sequence);
    stop reason = stop::decided;
    while (number < group.size() && reason == stop::decided) {
      reason = plan(work, group[number], ready[number], number);
      if (reason == stop::decided) ++number, clearings = 0;
    }
    if (!work.items.empty()) commit(work, group);
    if (reason == stop::decided || reason == stop::full) continue;
    auto cleared = make_way(reason, group[number].key.hash);
    if (cleared && !*cleared) return number;
    if (cleared && ++clearings > max_clearings)
      cleared = fail(errc::internal, "no place for a record in " + config_.path.string());
    if (!cleared) refuse(group[number++], cleared.error());
  }
  return number;
}

// False: there is no room for it.
expected<bool> shard::make_way(stop reason, std::uint64_t hash) {
  if (reason == stop::must_roll) return roll();
  const bool flooded = is_flooded();
  if (!flooded && !has_room_to_grow()) return false;
  auto done = flooded ? drop_oldest_of(hash) : grow();
  if (!done) return fail(done.error());
  return true;
}

shard::lookup shard::find_for_write(const entry_key& key) noexcept {
  lookup result;
  auto* index = current_index();
  if (!index) {
    result.error = EIO;
    return result;
  }
  const auto lowest = oldest();
  for (slot* bucket : index->buckets_of(key.hash)) {
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      const auto word = one->load(std::memory_order_acquire);
      if (word == 0 || slot_tag(word) != tag_of(key.hash) || slot_segment(word) < lowest) continue;
      record_header header;
      int error = 0;
      const auto found = read_entry(word, key, lowest, header, nullptr, &error);
      if (found == outcome::match) return {one, word, header, 0};
      if (found == outcome::unreadable) result.error = error ? error : EIO;
    }
  }
  return result;
}

shard::stop shard::plan(append_batch& work, write_request& request, prepared_write& ready,
                        std::size_t number) {
  if (work.is_full() || work.hashes.contains(request.key.hash | 1)) return stop::full;
  const auto old = find_for_write(request.key);
  if (old.error) {
    refuse(request, system_error(old.error, "look up a key in", config_.path));
    return stop::decided;
  }
  const bool present = old.where && !is_expired(old.header.expires_unix_ms,
                                                old.header.expires_unix_ms ? unix_time_ms() : 0);
  if (!present) outdate_dropped();
  if (request.kind == write_kind::insert && present) {
    request.status = write_status::exists;
    counters_.add(counter::existed);
    return stop::decided;
  }
  if (request.kind == write_kind::erase && !present) {
    request.status = write_status::absent;
    return stop::decided;
  }
  return plan_append(work, request, ready, number, old);
}

shard::stop shard::plan_append(append_batch& work, const write_request& request,
                               prepared_write& ready, std::size_t number, const lookup& old) {
  // What replaces a record lies in no lower segment: else it would be evicted first, and a rebuild
  // would bring the old one back.
  if (old.where && slot_segment(old.word) > work.start.segment) return stop::must_roll;
  auto& header = ready.header;
  const location at{work.start.segment, work.end};
  if (at.offset + record_size(header) > roll_limit()) return stop::must_roll;
  slot* place = old.where ? old.where : claim_slot(work.slots, header.hash);
  if (!place) return stop::must_grow;
  header.sequence = work.sequence + 1;
  seal(header, config_.store_id, at);
  work.add(header, request.key,
           ready.header.kind == record_kind::tombstone ? std::string_view{}
                                                       : request.value.metadata_bytes(),
           ready.payload);
  work.hashes.insert(header.hash | 1);
  work.slots.insert(reinterpret_cast<std::uintptr_t>(place));
  if (old.where && slot_location(old.word).offset == first_record_offset)
    may_have_dead_large_.store(true, std::memory_order_relaxed);
  const bool erases = header.kind == record_kind::tombstone;
  work.items.push_back({number, place, erases ? 0 : make_slot(header.hash, at),
                        old.where ? record_size(old.header) : 0, record_size(header), work.end,
                        old.where != nullptr, header.hash, header.sequence});
  return stop::decided;
}

slot* shard::claim_slot(const word_set& taken, std::uint64_t hash) noexcept {
  auto* index = current_index();
  if (!index) return nullptr;
  const auto lowest = oldest();
  return index->find_free(hash, [&](const slot* one, std::uint64_t word) {
    return (word == 0 || slot_segment(word) < lowest) &&
           !taken.contains(reinterpret_cast<std::uintptr_t>(one));
  });
}

// An entry goes, or has just gone, that nobody erased: memory tiers may go on holding it.
void shard::note_dropped() noexcept { head_.set(head_word::dropped, all_may_hold_dropped); }

// The key that is about to be written or erased is not here, but may be one that was dropped: what
// the memory of other processes holds of it has to go first. Our own process knows what it writes,
// so that its memory does not start over, and may hold other dropped entries still: whoever else
// writes next moves the epoch again. A writer that is alone pays nothing, others once or twice
// after an eviction.
void shard::outdate_dropped() noexcept {
  for (auto holder = head_.get(head_word::dropped);
       holder != nobody_holds_dropped && holder != opening_;
       holder = head_.get(head_word::dropped)) {
    head_.set(head_word::epoch, epoch() + 1);
    ++epoch_moves_;
    const auto next = holder == all_may_hold_dropped ? opening_ : nobody_holds_dropped;
    if (head_.replace(head_word::dropped, holder, next)) return;
  }
}

// Writes and publishes what is planned, with the lock held.
shard::write_outcome shard::write_batch(append_batch& work) {
  auto ready = mark_.remove_before_write();
  if (ready) ready = allocate_to(work.end);
  if (!ready) return {0, ready.error()};
  const location end{work.start.segment, work.end};
  head_.set(head_word::sequence, work.sequence);
  head_.set(head_word::reserved, end);
  head_.set(head_word::pending, work.start);
  auto parts = work.bytes.parts();
  const auto wrote = write_fully(files_, active_file_->get(), parts, work.start.offset);
  write_outcome result;
  while (result.complete < work.items.size() &&
         work.items[result.complete].end - work.start.offset <= wrote.written)
    ++result.complete;
  const auto reached = result.complete ? work.items[result.complete - 1].end : work.start.offset;
  head_.set(head_word::active, {work.start.segment, reached});
  publish(std::span(work.items).first(result.complete));
  for (const auto& one : std::span(work.items).first(result.complete))
    written_.append({work.start.segment, one.end - one.bytes}, one.end, one.hash, one.sequence,
                    one.word ? record_kind::value : record_kind::tombstone);
  head_.set(head_word::reserved, {work.start.segment, reached});
  head_.set(head_word::pending, 0);
  if (wrote.error)
    result.why = system_error(wrote.error, "append to", path_of(segment_name(work.start.segment)));
  return result;
}

void shard::commit(append_batch& work, std::span<write_request> group) {
  const auto wrote = write_batch(work);
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    auto& request = group[work.items[i].request];
    if (i >= wrote.complete) {
      refuse(request, wrote.why);
      continue;
    }
    const auto kind = request.kind;
    request.status = kind == write_kind::insert ? write_status::inserted
                     : kind == write_kind::put  ? write_status::stored
                                                : write_status::erased;
    counters_.add(kind == write_kind::insert ? counter::inserted
                  : kind == write_kind::put  ? counter::put
                                             : counter::erased);
  }
}

void shard::publish(std::span<const planned_record> items) noexcept {
  auto* index = index_.load(std::memory_order_acquire);
  auto sum = head_.get(head_word::index_sum);
  auto live = static_cast<std::int64_t>(head_.get(head_word::live_bytes));
  bool replaced = false;
  for (const auto& one : items) {
    const auto position = index->position_of(one.where);
    const auto before = one.where->exchange(one.word, std::memory_order_acq_rel);
    sum += slot_sum(one.word, position) - slot_sum(before, position);
    live += static_cast<std::int64_t>(one.word ? one.bytes : 0);
    live -= static_cast<std::int64_t>(one.old_bytes);
    replaced = replaced || one.replaces;
  }
  head_.set(head_word::index_sum, sum);
  head_.set(head_word::live_bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(live, 0)));
  // After the slots: whoever sees the old epoch and then reads may have read the new entry, never
  // the other way round.
  if (!replaced) return;
  head_.set(head_word::epoch, head_.get(head_word::epoch) + 1);
  ++epoch_moves_;
}

} // namespace hearth::storage::disk
