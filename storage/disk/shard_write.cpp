#include "messages/key.hpp"
#include "storage/disk/errors.hpp"
#include "storage/disk/shard.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
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
  if (config_.compress && out.payload.size() >= min_compressed_bytes) {
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

void shard::apply(std::span<write_request> group) {
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
}

void shard::apply_small(std::span<write_request> group, std::span<prepared_write> ready) {
  while (!group.empty()) {
    const auto part = std::min(group.size(), max_batch_records);
    auto locked = lock_for_writing(config_.lock_deadline);
    if (locked) {
      const hold held(*this);
      counters_.add(counter::groups);
      append_all(group.first(part), ready.first(part));
    } else {
      for (auto& request : group.first(part))
        refuse(request, locked.error());
    }
    group = group.subspan(part);
    ready = ready.subspan(part);
  }
}

void shard::append_all(std::span<write_request> group, std::span<prepared_write> ready) {
  std::size_t number = 0;
  unsigned clearings = 0;
  while (number < group.size()) {
    if (auto opened = open_active(); !opened) {
      refuse(group[number++], opened.error());
      continue;
    }
    append_batch work(tail());
    work.sequence = head_.get(head_word::sequence);
    stop reason = stop::decided;
    while (number < group.size() && reason == stop::decided) {
      reason = plan(work, group[number], ready[number], number);
      if (reason == stop::decided) ++number, clearings = 0;
    }
    if (!work.items.empty()) commit(work, group);
    if (reason == stop::decided || reason == stop::full) continue;
    auto cleared = make_way(reason, group[number].key.hash);
    if (cleared && ++clearings > max_clearings)
      cleared = fail(errc::internal, "no place for a record in " + config_.path.string());
    if (!cleared) refuse(group[number++], cleared.error());
  }
}

expected<void> shard::make_way(stop reason, std::uint64_t hash) {
  if (reason == stop::must_roll) return roll();
  return is_flooded() ? drop_oldest_of(hash) : grow();
}

// Both buckets of a key are full while the index is nearly empty: keys were made to collide. To
// grow would only make a larger index that is emptier still.
bool shard::is_flooded() const noexcept {
  const auto* index = index_.load(std::memory_order_acquire);
  const auto lowest = oldest();
  std::uint64_t live = 0;
  for (std::uint64_t i = 0; i < index->slots(); ++i)
    live += slot_segment(index->at(i).load(std::memory_order_relaxed)) >= lowest;
  return live < index->slots() / 8;
}

expected<void> shard::drop_oldest_of(std::uint64_t hash) {
  const auto* index = index_.load(std::memory_order_acquire);
  slot* victim = nullptr;
  for (slot* bucket : index->buckets_of(hash))
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one)
      if (!victim || slot_location(one->load()).packed() < slot_location(victim->load()).packed())
        victim = one;
  const planned_record dropped{0, victim, 0, 0, 0, 0, false};
  publish({&dropped, 1});
  counters_.add(counter::evicted);
  return {};
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
      const auto found = read_entry(word, key, lowest, header, nullptr);
      if (found == outcome::match) return {one, word, header, 0};
      if (found == outcome::unreadable) result.error = EIO;
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
  if (at.offset + record_size(header) > segment_limit()) return stop::must_roll;
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
  const bool erases = header.kind == record_kind::tombstone;
  work.items.push_back({number, place, erases ? 0 : make_slot(header.hash, at),
                        old.where ? record_size(old.header) : 0, record_size(header), work.end,
                        old.where != nullptr});
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

void shard::commit(append_batch& work, std::span<write_request> group) {
  const auto refuse_from = [&](std::size_t first, const error& why) {
    for (std::size_t i = first; i < work.items.size(); ++i)
      refuse(group[work.items[i].request], why);
  };
  auto ready = mark_.remove_before_write();
  if (ready) ready = allocate_to(work.end);
  if (!ready) return refuse_from(0, ready.error());
  const location end{work.start.segment, work.end};
  head_.set(head_word::sequence, work.sequence);
  head_.set(head_word::reserved, end);
  head_.set(head_word::pending, work.start);
  auto parts = work.bytes.parts();
  const auto wrote = write_fully(files_, active_file_->get(), parts, work.start.offset);
  std::size_t complete = 0;
  while (complete < work.items.size() &&
         work.items[complete].end - work.start.offset <= wrote.written)
    ++complete;
  const auto reached = complete ? work.items[complete - 1].end : work.start.offset;
  head_.set(head_word::active, {work.start.segment, reached});
  publish(std::span(work.items).first(complete));
  head_.set(head_word::reserved, {work.start.segment, reached});
  head_.set(head_word::pending, 0);
  for (std::size_t i = 0; i < complete; ++i) {
    auto& request = group[work.items[i].request];
    const auto kind = request.kind;
    request.status = kind == write_kind::insert ? write_status::inserted
                     : kind == write_kind::put  ? write_status::stored
                                                : write_status::erased;
    counters_.add(kind == write_kind::insert ? counter::inserted
                  : kind == write_kind::put  ? counter::put
                                             : counter::erased);
  }
  if (complete < work.items.size())
    refuse_from(complete,
                system_error(wrote.error, "append to", path_of(segment_name(work.start.segment))));
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
  if (replaced) head_.set(head_word::epoch, head_.get(head_word::epoch) + 1);
}

expected<void> shard::open_active() {
  const auto end = tail();
  const auto name = segment_name(end.segment);
  if (!active_file_ || active_segment_ != end.segment) {
    std::uint64_t size = 0;
    const auto intact = open_segment(windows_.place(), end.segment, size);
    if (intact.error() == ENOENT || intact.error() == EBADMSG) return begin_segment();
    auto opened = std::make_shared<file>(
        files_, files_.open_at(directory_.get(), name.c_str(), O_RDWR | O_NOFOLLOW, 0));
    if (!*opened) return fail(system_error(opened->error(), "open", path_of(name)));
    active_file_ = std::move(opened);
    active_segment_ = end.segment;
    allocated_ = 0;
  }
  struct stat about {};
  if (const int stated = files_.status(active_file_->get(), about); stated < 0)
    return fail(system_error(-stated, "read", path_of(name)));
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (size < end.offset) { // somebody cut it: what were appended could not be read
    active_file_.reset();
    return begin_segment();
  }
  allocated_ = std::max(allocated_, size);
  return {};
}

expected<void> shard::allocate_to(std::uint64_t end) {
  if (end <= allocated_) return {};
  const auto chunk = std::clamp<std::uint64_t>(config_.segment_bytes / 8, 64u << 10, 8u << 20);
  const auto wanted = std::max(end, std::min(round_up(end, chunk), config_.segment_bytes));
  for (const auto target : {wanted, end}) {
    const int made = files_.allocate(active_file_->get(), allocated_, target - allocated_);
    if (made == 0) {
      allocated_ = target;
      return {};
    }
    if (made == -EOPNOTSUPP || made == -ENOSYS) return {}; // the write itself extends the file
    if (target == end)
      return fail(system_error(-made, "make room in", path_of(segment_name(active_segment_))));
  }
  return {};
}

segment_header shard::header_of_segment(std::uint64_t number, bool large) const noexcept {
  segment_header header;
  header.shard = config_.number;
  header.store_id = config_.store_id;
  header.segment = number;
  header.large = large;
  header.sum = hash_seeded(&header, offsetof(segment_header, sum), 0);
  return header;
}

expected<std::uint64_t> shard::take_segment_number() {
  const auto number = head_.get(head_word::next_segment);
  if (number > max_segment)
    return fail(errc::unsupported,
                config_.path.string() + " has used up its segment numbers; make a new store");
  head_.set(head_word::next_segment, number + 1);
  return number;
}

expected<file> shard::make_segment(std::uint64_t& number) {
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    const auto taken = take_segment_number();
    if (!taken) return fail(taken.error());
    number = *taken;
    const auto name = segment_name(number);
    file made(files_, files_.open_at(directory_.get(), name.c_str(),
                                     O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
    if (made.error() == EEXIST) continue;
    if (!made) return fail(system_error(made.error(), "make", path_of(name)));
    const auto header = header_of_segment(number, false);
    const auto wrote = write_fully(files_, made.get(), &header, sizeof header, 0);
    if (!wrote.error) return made;
    files_.remove_at(directory_.get(), name.c_str());
    return fail(system_error(wrote.error, "write", path_of(name)));
  }
  return fail(errc::io, "too many left-over segments in " + config_.path.string());
}

expected<void> shard::roll() {
  const auto before = tail().segment;
  if (auto room = make_room(config_.segment_bytes); !room) return room;
  // Making room may have begun a segment itself, for what is kept.
  return tail().segment == before ? begin_segment() : expected<void>{};
}

expected<void> shard::begin_segment() {
  if (auto cleared = mark_.remove_before_write(); !cleared) return cleared;
  std::uint64_t number = 0;
  auto made = make_segment(number);
  if (!made) return fail(made.error());
  const auto left = tail();
  if (active_file_ && active_segment_ == left.segment) {
    // Its records end where the file does. Nobody reads above the tail.
    files_.resize(active_file_->get(), left.offset);
    unsynced_.emplace(left.segment, std::move(active_file_));
    to_seal_.push_back(left.segment);
  }
  directory_unsynced_ = true;
  const location start{number, first_record_offset};
  head_.set(head_word::reserved, start);
  head_.set(head_word::active, start);
  active_file_ = std::make_shared<file>(std::move(*made));
  active_segment_ = number;
  allocated_ = first_record_offset;
  return {};
}

expected<void> shard::grow() {
  auto* old = current_index();
  if (!old) return fail(errc::io, "the index of " + config_.path.string() + " cannot be mapped");
  constexpr std::uint64_t doubling_up_to = 4096;
  auto buckets = old->buckets() < doubling_up_to ? old->buckets() * 2 : old->buckets() * 3 / 2;
  const auto generation = old->generation() + 1;
  int error = index_table::create(files_, directory_.get(), generation, config_.store_id, buckets);
  if (error) return fail(system_error(error, "make", path_of(index_name(generation))));
  auto made = index_table::map(files_, directory_.get(), generation, config_.store_id, true, error);
  if (!made) return fail(system_error(error, "map", path_of(index_name(generation))));
  const auto active = tail();
  for (const auto segment : measure().segments) {
    if (segment < oldest()) continue;
    const auto limit = segment == active.segment ? active.offset : ~std::uint64_t{0};
    error = for_each_entry(windows_.place(), segment, limit, [&](const entry_place& entry) {
      const slot* from = old->find_exact(entry.hash, entry.where);
      if (!from) return;
      slot* to = made->find_free(entry.hash, [](const slot*, std::uint64_t w) { return w == 0; });
      if (to) to->store(from->load(std::memory_order_relaxed), std::memory_order_relaxed);
    });
    if (error == EMFILE || error == ENFILE || error == ENOMEM)
      return fail(system_error(error, "read", path_of(segment_name(segment))));
  }
  head_.set(head_word::index_stale, 1);
  head_.set(head_word::index_sum, made->sum());
  head_.set(head_word::generation, generation);
  head_.set(head_word::index_stale, 0);
  const auto former = index_name(old->generation());
  adopt_index(std::move(made));
  files_.remove_at(directory_.get(), former.c_str());
  return {};
}

} // namespace hearth::storage::disk
