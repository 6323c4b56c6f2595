#include "storage/disk/read/entry_reader.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <zstd.h>

namespace hearth::storage::disk {
namespace {

constexpr unsigned max_read_attempts = 8;

// Whether an error concerns the entry, not this process.
bool is_damage(int error) noexcept {
  return error == ERANGE || error == EBADMSG || error == ENOENT || error == ELOOP;
}

} // namespace

entry_match entry_reader::read_header(segment_reader& from, location where, const entry_key& key,
                                      record_header& header, std::string& scratch) noexcept {
  const auto failure = [&] {
    return is_damage(from.error()) ? entry_match::bad : entry_match::unreadable;
  };
  const char* bytes = from.peek(where.offset, sizeof header, scratch);
  if (!bytes) return failure();
  std::memcpy(&header, bytes, sizeof header);
  if (!is_sealed(header, store_id_, where) && !is_sealed(header, store_id_, from.sealed_at(where)))
    return entry_match::bad;
  if (!has_sane_lengths(header) || header.kind != record_kind::value) return entry_match::bad;
  if (header.hash != key.hash) return entry_match::other;
  const char* identity = from.peek(where.offset + sizeof header, header.identity_bytes(), scratch);
  if (!identity) return failure();
  if (is_identity_of(key, header, identity)) return entry_match::match;
  // Equal hashes of different keys are rarer than damage: the sum of the identity tells them apart.
  const bool intact = hash_bytes(identity, static_cast<std::size_t>(header.identity_bytes())) ==
                      header.identity_sum;
  return intact ? entry_match::other : entry_match::bad;
}

entry_match entry_reader::read_value(segment_reader& from, location where,
                                     const record_header& header, artifact& out) noexcept {
  const auto failure = [&] {
    return is_damage(from.error()) ? entry_match::bad : entry_match::unreadable;
  };
  auto* body = artifact_body::allocate(header.metadata_bytes, header.payload_bytes);
  if (!body) return entry_match::unreadable;
  artifact made = artifact::adopt(body);
  std::uint64_t hash = 0;
  const auto metadata = where.offset + sizeof header + header.identity_bytes();
  if (header.metadata_bytes > 0) {
    if (!from.copy(body->metadata_data(), metadata, header.metadata_bytes, hash)) return failure();
    if (hash != header.metadata_sum) return entry_match::bad;
  }
  const auto payload = metadata + header.metadata_bytes;
  if (header.coding == codec::raw) {
    if (header.stored_bytes != header.payload_bytes) return entry_match::bad;
    if (!from.copy(body->payload_data(), payload, header.stored_bytes, hash)) return failure();
    if (hash != header.payload_sum) return entry_match::bad;
  } else {
    std::unique_ptr<char[]> stored(new (std::nothrow) char[header.stored_bytes]);
    if (!stored) return entry_match::unreadable;
    if (!from.copy(stored.get(), payload, header.stored_bytes, hash)) return failure();
    if (hash != header.payload_sum || header.coding != codec::zstd ||
        ZSTD_decompress(body->payload_data(), header.payload_bytes, stored.get(),
                        header.stored_bytes) != header.payload_bytes)
      return entry_match::bad;
  }
  out = std::move(made);
  return entry_match::match;
}

entry_match entry_reader::read(std::uint64_t word, const entry_key& key, std::uint64_t oldest,
                               record_header& header, artifact* out, int* error) noexcept {
  const auto where = slot_location(word);
  segment_reader from(windows_, where.segment, oldest);
  std::string scratch;
  for (bool again = false;; again = true) {
    auto result = read_header(from, where, key, header, scratch);
    if (result == entry_match::match && out) result = read_value(from, where, header, *out);
    if (error) *error = from.error();
    if (result != entry_match::bad || again) return result;
    from.distrust_mapping(); // another segment may be mapped there, or zeros after a SIGBUS
  }
}

bool entry_reader::is_unchanged(const index_table& index, const slot& one,
                                std::uint64_t word) const noexcept {
  std::uint64_t oldest = 0;
  std::uint64_t generation = 0;
  return head_.load(head_word::oldest, oldest) && head_.load(head_word::generation, generation) &&
         (index_.is_private() || generation == index.generation()) &&
         oldest <= slot_segment(word) &&
         (one.load(std::memory_order_acquire) & ~hit_bit) == (word & ~hit_bit);
}

read_result entry_reader::get(const entry_key& key) {
  for (unsigned attempt = 0; attempt < max_read_attempts; ++attempt) {
    auto* index = index_.current();
    if (!index) break;
    if (auto result = try_get(key, *index)) return std::move(*result);
  }
  counts_.add(counter::unreadable);
  return {read_status::unreadable};
}

std::optional<read_result> entry_reader::try_get(const entry_key& key, index_table& index) {
  std::uint64_t oldest = 0;
  if (!head_.load(head_word::oldest, oldest)) return read_result{read_status::unreadable};
  slot* bad = nullptr;
  std::uint64_t bad_word = 0;
  const auto tag = tag_of(key.hash);
  const auto both = index.buckets_of(key.hash);
  __builtin_prefetch(both[1]);
  for (slot* bucket : both) {
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      const auto word = one->load(std::memory_order_acquire);
      if (slot_tag(word) != tag || word == 0 || slot_segment(word) < oldest) continue;
      windows_.prefetch(slot_segment(word), slot_location(word).offset);
      record_header header;
      artifact value;
      const auto result = read(word, key, oldest, header, &value);
      if (result == entry_match::match) return found(*one, word, header, std::move(value));
      if (result == entry_match::unreadable) {
        counts_.add(counter::unreadable);
        return read_result{read_status::unreadable};
      }
      if (result != entry_match::bad) continue;
      if (!is_unchanged(index, *one, word)) return std::nullopt;
      bad = one;
      bad_word = word;
    }
  }
  if (bad) return drop_corrupt(*bad, bad_word);
  std::uint64_t generation = 0;
  if (!index_.is_private() &&
      (!head_.load(head_word::generation, generation) || generation != index.generation()))
    return std::nullopt;
  counts_.add(counter::misses);
  return read_result{};
}

read_result entry_reader::found(slot& one, std::uint64_t word, const record_header& header,
                                artifact value) {
  if (header.expires_unix_ms != 0 && is_expired(header.expires_unix_ms, unix_time_ms())) {
    counts_.add(counter::expired);
    counts_.add(counter::misses);
    return {};
  }
  if (!(word & hit_bit) && files_.notes_hits())
    one.compare_exchange_strong(word, word | hit_bit, std::memory_order_relaxed);
  counts_.add(counter::hits);
  return {read_status::hit, std::move(value), header.sequence};
}

read_result entry_reader::drop_corrupt(slot& one, std::uint64_t word) noexcept {
  const auto bare = word & ~hit_bit;
  if (files_.config.read_only) {
    auto& reported = reported_[mix64(bare) % reported_.size()];
    if (reported.exchange(bare, std::memory_order_relaxed) == bare) {
      counts_.add(counter::misses);
      return {};
    }
    counts_.add(counter::corrupt);
    return {read_status::corrupt};
  }
  // Set both before and after: the holder of the lock must compute the sum after the slot changed.
  files_.head.set(head_word::index_stale, 1);
  files_.note_dropped();
  auto present = bare;
  bool dropped = one.compare_exchange_strong(present, 0);
  if (!dropped && (present & ~hit_bit) == bare) dropped = one.compare_exchange_strong(present, 0);
  files_.note_dropped();
  files_.head.set(head_word::index_stale, 1);
  counts_.add(dropped ? counter::corrupt : counter::misses);
  return {dropped ? read_status::corrupt : read_status::miss, {}};
}

void entry_reader::touch(const entry_key& key) noexcept {
  auto* index = files_.notes_hits() ? index_.current() : nullptr;
  if (!index) return;
  for (slot* bucket : index->buckets_of(key.hash)) {
    for (slot* one = bucket; one < bucket + slots_per_bucket; ++one) {
      auto word = one->load(std::memory_order_relaxed);
      if (word != 0 && !(word & hit_bit) && slot_tag(word) == tag_of(key.hash))
        one->compare_exchange_strong(word, word | hit_bit, std::memory_order_relaxed);
    }
  }
}

} // namespace hearth::storage::disk
