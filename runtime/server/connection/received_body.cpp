#include "runtime/server/connection/received_body.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <zstd.h>

namespace hearth::server {
namespace {

// At most so much is received in place before it is counted.
constexpr std::size_t max_piece_bytes = 1u << 20;
// A frame that needs a larger window is refused: levels up to 19 need 8 MiB.
constexpr int max_window_log = 23;
constexpr std::size_t decoded_piece_bytes = 64u << 10;

auto no_memory() { return fail(errc::overloaded, "no memory for a value of this size: try later"); }
auto not_zstd() { return fail(errc::malformed, "the body is not a whole zstd frame"); }

} // namespace

void received_body::decoder_deleter::operator()(ZSTD_DCtx_s* decoder) const noexcept {
  ZSTD_freeDCtx(decoder);
}

received_body::received_body(body_plan plan, std::atomic<std::uint64_t>& receiving,
                             std::uint64_t max_receiving)
    : plan_(std::move(plan))
    , quota_(receiving, max_receiving) {}

received_body::~received_body() = default;

expected<std::unique_ptr<received_body>> received_body::begin(body_plan plan,
                                                              std::atomic<std::uint64_t>& receiving,
                                                              std::uint64_t max_receiving) {
  std::unique_ptr<received_body> made(new received_body(std::move(plan), receiving, max_receiving));
  const auto& wanted = made->plan_;
  if (wanted.is_zstd) {
    made->decoder_.reset(ZSTD_createDCtx());
    if (!made->decoder_) return no_memory();
    ZSTD_DCtx_setParameter(made->decoder_.get(), ZSTD_d_windowLogMax, max_window_log);
  } else if (wanted.bytes) {
    if (*wanted.bytes > wanted.max_bytes)
      return fail(errc::too_large, "larger than a value may be");
    if (auto good = made->allocate(*wanted.bytes); !good) return fail(good.error());
  }
  return made;
}

expected<void> received_body::allocate(std::uint64_t bytes) {
  fixed_ = artifact_body::allocate(static_cast<std::uint32_t>(plan_.metadata.size()), bytes);
  if (!fixed_) return no_memory();
  value_ = artifact::adopt(fixed_);
  if (!plan_.metadata.empty())
    std::memcpy(fixed_->metadata_data(), plan_.metadata.data(), plan_.metadata.size());
  return {};
}

std::span<char> received_body::room() {
  if (!is_in_place()) return {};
  const auto left = static_cast<std::size_t>(fixed_->payload().size() - size_);
  return {fixed_->payload_data() + size_, std::min(left, max_piece_bytes)};
}

expected<void> received_body::received(std::size_t added) {
  return count({fixed_->payload_data() + size_, added});
}

// Counts and hashes bytes that are in their place.
expected<void> received_body::count(std::string_view added) {
  if (plan_.is_hashed) hash_.update(added);
  size_ += added.size();
  if (size_ > large_bytes && !quota_.grow_to(size_))
    return fail(errc::overloaded, "too many large values are being received: try later");
  return {};
}

expected<void> received_body::write(std::string_view bytes) {
  return decoder_ ? decompress(bytes) : append(bytes);
}

expected<void> received_body::append(std::string_view bytes) {
  if (is_in_place()) {
    const auto at = room();
    if (bytes.size() > fixed_->payload().size() - size_)
      return fail(errc::too_large, "more bytes than the body has");
    std::memcpy(at.data(), bytes.data(), bytes.size());
    return count({at.data(), bytes.size()});
  }
  if (bytes.size() > plan_.max_bytes - size_)
    return fail(errc::too_large, "larger than a value may be");
  grown_ += bytes;
  return count(bytes);
}

expected<void> received_body::decompress(std::string_view bytes) {
  std::string piece(decoded_piece_bytes, '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (bool is_full = false; in.pos < in.size || is_full;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const auto result = ZSTD_decompressStream(decoder_.get(), &out, &in);
    if (ZSTD_isError(result)) return not_zstd();
    is_frame_open_ = result != 0;
    is_full = out.pos == out.size && is_frame_open_;
    if (auto good = append({piece.data(), out.pos}); !good) return good;
  }
  return {};
}

expected<artifact> received_body::finish() {
  if (decoder_ && is_frame_open_) return not_zstd();
  if (is_in_place()) return std::move(value_);
  if (auto good = allocate(grown_.size()); !good) return fail(good.error());
  if (!grown_.empty()) std::memcpy(fixed_->payload_data(), grown_.data(), grown_.size());
  grown_ = {};
  return std::move(value_);
}

} // namespace hearth::server
