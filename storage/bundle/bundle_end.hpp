// The last block of a bundle: the counts, the digest of the content, and a signature when the
// bundle is signed. Pure functions over plain data, any thread.
#pragma once

#include "messages/digest.hpp"
#include "storage/signing/signing.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::storage {

/// A signature that owns its bytes.
struct kept_signature {
  std::uint64_t algorithm = 0;
  std::string key_id;
  std::string bytes;

  signature view() const { return {algorithm, key_id, bytes}; }
};

struct bundle_end {
  std::uint64_t records = 0;
  std::uint64_t content_bytes = 0; ///< size of all records, unpacked
  digest sum;
  std::optional<kept_signature> signed_by;
};

/// One msgpack array: records, content bytes, digest, and nil or the signature as three items.
std::string encode_end(const bundle_end& end);
/// Returns nothing when the bytes have any other form.
std::optional<bundle_end> decode_end(std::string_view bytes);

} // namespace hearth::storage
