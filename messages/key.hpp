// The key of an entry in a named cache. Plain value, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// The maximum size of a key's msgpack, in bytes.
inline constexpr std::size_t max_key_bytes = 65000;
/// The maximum nesting of arrays in a key.
inline constexpr int max_key_depth = 32;

/// A key: canonical msgpack of a str, an int, a bin or an array of keys. Equal keys have equal
/// bytes, so only the bytes are compared and hashed.
class key {
public:
  /// The key of a text; `cache.get("x")` uses it.
  key(std::string_view text);
  key(const char* text)
      : key(std::string_view(text)) {}
  key(const std::string& text)
      : key(std::string_view(text)) {}

  static key text(std::string_view text) { return key(text); }
  static key integer(std::int64_t number);
  static key bytes(std::string_view raw);
  /// An array of keys (a tuple).
  static key tuple(std::span<const key> items);
  static key tuple(std::initializer_list<key> items) {
    return tuple(std::span<const key>(items.begin(), items.size()));
  }

  /// A key from its msgpack. Errors: `invalid_key` when the bytes are not the canonical form of a
  /// key (a longer form of a number, a map, nil, a float), nest deeper than 32 or exceed 65,000.
  static expected<key> decode(std::string_view msgpack);

  /// The canonical msgpack.
  const std::string& encoded() const noexcept { return encoded_; }

  /// The key for display: `"matmul"`, `17`, `b'00ff'`, `("a", 1)`; cut to about `limit` bytes.
  std::string describe(std::size_t limit = 120) const;

  friend bool operator==(const key&, const key&) = default;
  friend auto operator<=>(const key&, const key&) = default;

private:
  struct from_encoded {};
  key(from_encoded, std::string encoded)
      : encoded_(std::move(encoded)) {}
  std::string encoded_;
};

} // namespace hearth
