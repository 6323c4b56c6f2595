#include "runtime/fingerprints/kept_details.hpp"

#include <zstd.h>

namespace hearth::fingerprints {
namespace {

constexpr int compression_level = 3;

expected<std::string> unpack(const std::string& packed) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return fail(errc::malformed, "kept key details that cannot be unpacked");
  if (size > max_kept_details_bytes)
    return fail(errc::too_large, "kept key details of " + std::to_string(size) + " bytes; " +
                                     std::to_string(max_kept_details_bytes) + " are allowed");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size()) != bytes.size())
    return fail(errc::malformed, "kept key details that cannot be unpacked");
  return bytes;
}

} // namespace

expected<std::string> pack_details(const key_field& details) {
  const auto bytes = encode(details);
  if (bytes.size() > max_kept_details_bytes)
    return fail(errc::too_large, "key details of " + std::to_string(bytes.size()) + " bytes; " +
                                     std::to_string(max_kept_details_bytes) + " can be kept");
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const auto size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), compression_level);
  if (ZSTD_isError(size)) return fail(errc::internal, "key details cannot be compressed");
  packed.resize(size);
  return packed;
}

expected<key_field> unpack_details(const std::string& packed) {
  const auto bytes = unpack(packed);
  if (!bytes) return fail(bytes.error());
  auto details = decode_field(*bytes);
  if (!details) return fail(details.error().within("kept key details"));
  return details;
}

expected<void> keep_details(value::map& metadata, const key_field& details) {
  auto packed = pack_details(details);
  if (!packed) return fail(packed.error());
  metadata[std::string(kept_details_member)] = binary{std::move(*packed)};
  return {};
}

expected<std::optional<key_field>> kept_details(const value::map& metadata) {
  const auto at = metadata.find(std::string(kept_details_member));
  if (at == metadata.end()) return std::optional<key_field>{};
  const auto* packed = at->second.as<binary>();
  if (!packed) return fail(errc::malformed, "kept key details are not of type bytes");
  auto details = unpack_details(packed->bytes);
  if (!details) return fail(details.error());
  return std::optional<key_field>(std::move(*details));
}

void nearest_key::offer(std::string name, std::uint64_t sequence, const key_field& details) {
  auto found = explain(wanted_, details);
  const bool is_nearer = offered_++ == 0 || found.size() < differences_.size() ||
                         (found.size() == differences_.size() && sequence > sequence_);
  if (!is_nearer) return;
  name_ = std::move(name);
  sequence_ = sequence;
  differences_ = std::move(found);
}

} // namespace hearth::fingerprints
