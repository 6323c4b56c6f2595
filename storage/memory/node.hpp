// One entry of the memory index: a small header and the key, packed, separate from the payload.
//
// Made and freed by the owner of the index. Readers follow a pointer to it only while a hazard slot
// names it. Everything except the hit bits is fixed before the node is published.
#pragma once

#include "messages/artifact.hpp"
#include "messages/expiry.hpp"
#include "messages/unix_time.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hearth::storage {

struct node {
  static constexpr std::uint8_t hit_lately = 1; ///< hit since the eviction policy last visited it
  static constexpr std::uint8_t hit_ever = 2;   ///< hit since it was inserted
  static constexpr std::uint8_t hit_told = 4;   ///< reported by drain_first_hits
  static constexpr std::uint8_t expires = 8;    ///< the artifact has an expiry; set once
  /// As `hit_lately`, of a node that expires. It never has `hit_lately`, so that each get of it
  /// takes the long way, which looks at the clock, and all others need not.
  static constexpr std::uint8_t hit_lately_expiring = 16;
  static constexpr std::uint32_t retired = ~std::uint32_t{0}; ///< `position` of a removed node
  static constexpr std::uint8_t standalone = 255;             ///< `place` of a node without a chunk
  static constexpr std::size_t key_offset = 28;

  const artifact_body* body = nullptr; ///< the node owns one reference
  node* next_first_hit = nullptr;      ///< list of nodes hit for the first time
  std::uint32_t cache = 0;
  std::uint32_t position = retired; ///< used by the owner: its place in the eviction queues
  std::uint16_t key_size = 0;
  std::atomic<std::uint8_t> hit{0};
  std::uint8_t place = standalone; ///< the node's number in its chunk of the slab

  const char* key_data() const noexcept { return reinterpret_cast<const char*>(this) + key_offset; }
  char* key_data() noexcept { return reinterpret_cast<char*>(this) + key_offset; }
  std::string_view key() const noexcept { return {key_data(), key_size}; }
  /// Whether the artifact's expiry has passed.
  bool has_expired() const noexcept {
    return (hit.load(std::memory_order_relaxed) & expires) != 0 &&
           is_expired(expiry_in(body->metadata()), unix_time_ms());
  }

  /// Whether it is the entry of this key. Compares sixteen bytes at a time, the last ones
  /// overlapping: keys are short, and a call of memcmp makes the caller save its registers.
  [[gnu::always_inline]] bool is(std::uint32_t of_cache, std::string_view bytes) const noexcept {
    const auto size = bytes.size();
    if (key_size != size || cache != of_cache) return false;
    const char* mine = key_data();
    const char* theirs = bytes.data();
    if (size >= sizeof(chunk)) [[likely]] {
      const auto differ_at = [=](std::size_t i) {
        return load<chunk>(mine + i) ^ load<chunk>(theirs + i);
      };
      auto differ = differ_at(0) | differ_at(size - sizeof(chunk));
      if (size > 2 * sizeof(chunk)) {
        differ |= differ_at(sizeof(chunk)) | differ_at(size - 2 * sizeof(chunk));
        for (auto i = 2 * sizeof(chunk); i < size - 2 * sizeof(chunk); i += sizeof(chunk))
          differ |= differ_at(i);
      }
      return (differ[0] | differ[1]) == 0;
    }
    if (size >= sizeof(std::uint64_t)) return same_ends<std::uint64_t>(mine, theirs, size);
    if (size >= sizeof(std::uint32_t)) return same_ends<std::uint32_t>(mine, theirs, size);
    for (std::size_t i = 0; i < size; ++i)
      if (mine[i] != theirs[i]) return false;
    return true;
  }

private:
  using chunk [[gnu::vector_size(16)]] = std::uint64_t;
  template <class Word>
  static Word load(const char* at) noexcept {
    Word bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    return bytes;
  }
  // Compares one to two words: the first and the last, which may overlap.
  template <class Word>
  static bool same_ends(const char* a, const char* b, std::size_t size) noexcept {
    const auto last = size - sizeof(Word);
    return load<Word>(a) == load<Word>(b) && load<Word>(a + last) == load<Word>(b + last);
  }
};
static_assert(sizeof(node) == 32, "the key starts in its last four bytes");

} // namespace hearth::storage
