// The body of a PUT while it comes: decompressed, hashed and counted piece by piece. Owned by one
// session.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "messages/error.hpp"
#include "runtime/server/connection/receiving_quota.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct ZSTD_DCtx_s;

namespace hearth::server {

/// How a body is received.
struct body_plan {
  std::optional<std::uint64_t> bytes; ///< of the body as sent; empty: chunked
  bool is_zstd = false;
  bool is_hashed = false;      ///< `value_digest` is wanted
  std::string metadata;        ///< of the artifact
  std::uint64_t max_bytes = 0; ///< of the value
};

class received_body {
public:
  /// A value above this size counts as large: it takes part in the quota.
  static constexpr std::uint64_t large_bytes = 64u << 10;

  /// Memory for a value of known size is taken at once, and used as bytes arrive. Errors:
  /// `too_large`, `overloaded` (no memory).
  static expected<std::unique_ptr<received_body>>
  begin(body_plan plan, std::atomic<std::uint64_t>& receiving, std::uint64_t max_receiving);
  received_body(const received_body&) = delete;
  received_body& operator=(const received_body&) = delete;
  ~received_body();

  /// Where the next bytes of the body can be received in place; empty: they are to be written.
  std::span<char> room();
  /// `count` bytes of the room were filled. Errors: `overloaded`: too many large values are being
  /// received.
  expected<void> received(std::size_t count);
  /// Adds bytes of the body as sent. Errors also: `too_large`, `malformed` (not zstd).
  expected<void> write(std::string_view bytes);
  /// The value, once the body is whole. Errors: `malformed` (the zstd frame has not ended),
  /// `overloaded` (no memory).
  expected<artifact> finish();
  /// The digest of the value, if it was wanted. Call it once, after `finish`.
  digest value_digest() { return hash_.finish(); }

private:
  received_body(body_plan plan, std::atomic<std::uint64_t>& receiving, std::uint64_t max_receiving);
  bool is_in_place() const noexcept { return fixed_ != nullptr; }
  expected<void> allocate(std::uint64_t bytes);
  expected<void> count(std::string_view added);
  expected<void> append(std::string_view bytes);
  expected<void> decompress(std::string_view bytes);

  const body_plan plan_;
  receiving_quota quota_;
  sha256_stream hash_;
  artifact value_;                 // owns `fixed_`
  artifact_body* fixed_ = nullptr; // a value of known size, being written
  std::string grown_;              // a value of unknown size
  std::uint64_t size_ = 0;         // so far
  struct decoder_deleter {
    void operator()(ZSTD_DCtx_s* decoder) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, decoder_deleter> decoder_;
  bool is_frame_open_ = true;
};

} // namespace hearth::server
