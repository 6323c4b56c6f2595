#include "storage/bundle/block_writer.hpp"

#include "messages/hash.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <zstd.h>

namespace hearth::storage {
namespace {

std::array<char, bundle_header_bytes> bundle_header() {
  std::array<char, bundle_header_bytes> header{};
  std::copy(bundle_magic.begin(), bundle_magic.end(), header.begin());
  put_number(header.data() + bundle_magic.size(), bundle_version);
  return header;
}

} // namespace

void block_writer::context_deleter::operator()(ZSTD_CCtx_s* context) const noexcept {
  ZSTD_freeCCtx(context);
}

block_writer::block_writer(byte_sink to)
    : to_(std::move(to))
    , context_(ZSTD_createCCtx())
    , block_(block_header_bytes + ZSTD_compressBound(bundle_block_bytes), '\0') {
  content_.reserve(bundle_block_bytes);
}

block_writer::~block_writer() = default;

expected<void> block_writer::write(std::string_view content) {
  content_bytes_ += content.size();
  while (!content.empty()) {
    const auto taken = std::min(content.size(), bundle_block_bytes - content_.size());
    content_.append(content.substr(0, taken));
    content.remove_prefix(taken);
    if (content_.size() < bundle_block_bytes) continue;
    if (auto sealed = seal_content(); !sealed) return sealed;
  }
  return {};
}

expected<void> block_writer::seal_content() {
  auto* const stored = block_.data() + block_header_bytes;
  const auto size = ZSTD_compressCCtx(context_.get(), stored, block_.size() - block_header_bytes,
                                      content_.data(), content_.size(), bundle_compression_level);
  const bool is_packed = !ZSTD_isError(size) && size < content_.size();
  if (!is_packed) std::memcpy(stored, content_.data(), content_.size());
  auto written = emit(is_packed ? block_coding::zstd : block_coding::raw,
                      is_packed ? size : content_.size(), content_.size());
  content_.clear();
  return written;
}

expected<void> block_writer::begin() {
  if (std::exchange(is_begun_, true)) return {};
  const auto header = bundle_header();
  const std::string_view bytes(header.data(), header.size());
  sum_.update(bundle_digest_label).update(bytes);
  return to_(bytes);
}

// Writes the block whose stored bytes are in `block_` already, with its header in front.
expected<void> block_writer::emit(block_coding coding, std::size_t stored_bytes,
                                  std::size_t content_bytes) {
  if (auto begun = begin(); !begun) return begun;
  block_header header;
  header.coding = static_cast<std::uint32_t>(coding);
  header.stored_bytes = static_cast<std::uint32_t>(stored_bytes);
  header.content_bytes = static_cast<std::uint32_t>(content_bytes);
  put_header(block_.data(), header);
  const auto whole = std::string_view(block_).substr(0, block_header_bytes + stored_bytes);
  header.sum = fast_hash(whole.substr(block_sum_bytes), blocks_++);
  put_header(block_.data(), header);
  if (coding != block_coding::end) sum_.update(whole);
  return to_(whole);
}

expected<bundle_end> block_writer::finish(std::uint64_t records, const signing_keys& keys) {
  if (!content_.empty())
    if (auto sealed = seal_content(); !sealed) return fail(sealed.error());
  if (auto begun = begin(); !begun) return fail(begun.error()); // when there was no record
  bundle_end end{records, content_bytes_, {}, {}};
  end.sum = sum_.update(bytes_of(records)).update(bytes_of(content_bytes_)).finish();
  if (!keys.empty())
    end.signed_by = {static_cast<std::uint64_t>(signature_algorithm::hmac_sha256), keys.front().id,
                     sign_digest(end.sum, keys.front())};
  const auto encoded = encode_end(end);
  std::copy(encoded.begin(), encoded.end(), block_.begin() + block_header_bytes);
  if (auto written = emit(block_coding::end, encoded.size(), 0); !written)
    return fail(written.error());
  return end;
}

} // namespace hearth::storage
