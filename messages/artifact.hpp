// Artifacts, the values of a cache: immutable bytes and their metadata, shared by reference.
//
// Any thread may hold, copy, read and drop an artifact. Copying one, or sending it in a message,
// copies a pointer, never the bytes.
#pragma once

#include "messages/error.hpp"
#include "messages/value.hpp"
#include "messages/visibility.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace HEARTH_PUBLIC hearth {

/// Largest payload and largest metadata of an artifact, bytes.
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 40;
inline constexpr std::uint32_t max_metadata_bytes = 16u << 20;

/// The shared block behind artifacts: one allocation, header, metadata, payload. Its creator writes
/// it once, before it passes on the first artifact; it never changes afterwards.
class artifact_body {
public:
  /// A block with one reference and unwritten bytes. Null if memory is short.
  static artifact_body* allocate(std::uint32_t metadata_size, std::uint64_t payload_size) noexcept;

  char* metadata_data() noexcept { return reinterpret_cast<char*>(this) + header_size; }
  char* payload_data() noexcept { return metadata_data() + payload_offset(metadata_size_); }
  std::string_view metadata() const noexcept { return {begin(), metadata_size_}; }
  std::string_view payload() const noexcept {
    return {begin() + payload_offset(metadata_size_), payload_size_};
  }
  /// Bytes that the block takes from the allocator.
  std::size_t allocated_bytes() const noexcept;

  void add_reference() const noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() const noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

private:
  static constexpr std::size_t header_size = 32;
  // The payload starts at a multiple of 32 from the block's start.
  static constexpr std::size_t payload_offset(std::size_t metadata_size) noexcept {
    return (metadata_size + 31) / 32 * 32;
  }
  artifact_body(std::uint32_t metadata_size, std::uint64_t payload_size) noexcept
      : metadata_size_(metadata_size)
      , payload_size_(payload_size) {}
  const char* begin() const noexcept { return reinterpret_cast<const char*>(this) + header_size; }
  void destroy() const noexcept;

  mutable std::atomic<std::uint32_t> references_{1};
  std::uint32_t metadata_size_;
  std::uint64_t payload_size_;
};

/// A reference to an immutable payload and its metadata; 16 bytes.
///
/// An artifact from a memory hit may hold a hazard slot instead of a reference count; its
/// destructor clears the slot. A copy always takes a count.
class artifact {
public:
  using hazard_slot = std::atomic<const void*>;

  artifact() = default;
  /// Copies `payload` and the msgpack map `metadata` (empty: no metadata) into a new block.
  static artifact make(std::string_view payload, std::string_view metadata = {});
  /// As above, with the metadata given as members.
  static artifact make(std::string_view payload, const value::map& metadata);
  /// Takes over the one reference that `body` has.
  static artifact adopt(artifact_body* body) noexcept { return {body, nullptr}; }
  /// Takes over a hazard slot that protects a holder of `body`. For the memory index.
  static artifact protect(const artifact_body* body, hazard_slot* slot) noexcept {
    return {body, slot};
  }

  artifact(const artifact& other) noexcept
      : body_(other.body_) {
    if (body_) body_->add_reference();
  }
  artifact(artifact&& other) noexcept
      : body_(std::exchange(other.body_, nullptr))
      , slot_(std::exchange(other.slot_, nullptr)) {}
  artifact& operator=(artifact other) noexcept {
    std::swap(body_, other.body_);
    std::swap(slot_, other.slot_);
    return *this;
  }
  // Checks `body_` before `reset`, which may be a call: most destroyed artifacts were moved from.
  ~artifact() {
    if (body_) reset();
  }

  /// Drops the reference or clears the slot.
  void reset() noexcept {
    if (!body_) return;
    if (slot_)
      slot_->store(nullptr, std::memory_order_release);
    else
      body_->drop_reference();
    body_ = nullptr;
    slot_ = nullptr;
  }

  /// False for an empty artifact.
  explicit operator bool() const noexcept { return body_ != nullptr; }
  std::string_view payload() const noexcept {
    return body_ ? body_->payload() : std::string_view{};
  }
  /// The stored metadata: a msgpack map, or empty.
  std::string_view metadata_bytes() const noexcept {
    return body_ ? body_->metadata() : std::string_view{};
  }
  /// The metadata, decoded. Errors: `malformed`.
  expected<value::map> metadata() const;

  const artifact_body* body() const noexcept { return body_; }
  /// Whether both have the same payload and metadata bytes.
  friend bool same_bytes(const artifact& a, const artifact& b) noexcept {
    return a.payload() == b.payload() && a.metadata_bytes() == b.metadata_bytes();
  }

private:
  artifact(const artifact_body* body, hazard_slot* slot) noexcept
      : body_(body)
      , slot_(slot) {}

  const artifact_body* body_ = nullptr;
  hazard_slot* slot_ = nullptr;
};

/// The time that making the artifact took, which a hit saves: the metadata's member
/// `time_taken_ns`. Zero if the metadata has none.
std::chrono::nanoseconds time_taken(const artifact& made);
/// The artifact with this time in its metadata; unchanged if its metadata has a time already or is
/// not a map.
artifact with_time_taken(artifact made, std::chrono::nanoseconds time);

} // namespace hearth
