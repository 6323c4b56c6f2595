// A named cache and its version: the first part of every key. Plain value, any thread.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// Longest name of a cache and longest version text, bytes.
inline constexpr std::size_t max_cache_name_bytes = 64;
inline constexpr std::size_t max_cache_version_bytes = 128;

/// Identity of a named cache. Two versions of one name are two caches that do not see each other.
class cache_id {
public:
  /// `name`: letters, digits, '_', '-', '.', 1 to 64 bytes, not starting with '.'.
  /// `version`: any text up to 128 bytes.
  static expected<cache_id> make(std::string_view name, std::string_view version = "0");

  const std::string& name() const noexcept { return data_->name; }
  const std::string& version() const noexcept { return data_->version; }
  /// First four bytes of SHA-256 of the version text, big endian (version "0": 0x5feceb66).
  std::uint32_t version_tag() const noexcept { return data_->tag; }
  /// Seed of the hash of this cache's keys: fast_hash of name, a zero byte and version. Part of
  /// the format on disk.
  std::uint64_t seed() const noexcept { return data_->seed; }

  friend bool operator==(const cache_id& a, const cache_id& b) noexcept {
    return a.data_ == b.data_ ||
           (a.seed() == b.seed() && a.name() == b.name() && a.version() == b.version());
  }

private:
  struct data {
    std::string name;
    std::string version;
    std::uint32_t tag;
    std::uint64_t seed;
  };
  explicit cache_id(std::shared_ptr<const data> d)
      : data_(std::move(d)) {}
  std::shared_ptr<const data> data_;
};

} // namespace hearth
