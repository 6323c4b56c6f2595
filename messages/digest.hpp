// A SHA-256 digest: a name of content that is valid on every host. Plain value; pure functions, any
// thread.
#pragma once

#include "messages/visibility.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// 32 bytes of SHA-256.
struct digest {
  std::array<std::uint8_t, 32> bytes{};

  /// The digest with these bytes; empty unless there are 32.
  static std::optional<digest> of_bytes(std::string_view bytes) noexcept;
  /// The bytes, valid while the digest exists.
  std::string_view view() const noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// 64 lower-case hexadecimal digits.
  std::string hex() const;
  /// RFC 4648 base32, lower case, without padding: 52 characters.
  std::string base32() const;

  friend auto operator<=>(const digest&, const digest&) = default;
};

/// SHA-256 of `bytes`.
digest sha256(std::string_view bytes);

/// SHA-256 of parts that are added one after the other.
class sha256_stream {
public:
  sha256_stream();

  sha256_stream& update(std::string_view bytes);
  /// The digest of all parts. Call it once, last.
  digest finish();

private:
  std::array<std::uint32_t, 28> state_; // SHA256_CTX
};

} // namespace hearth
