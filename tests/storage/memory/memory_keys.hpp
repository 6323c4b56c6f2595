// Keys and artifacts for the tests of the memory index.
#pragma once

#include "messages/hash.hpp"
#include "storage/memory/hazard.hpp"
#include "storage/memory/memory_index.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace hearth::test {

/// A key of 49 bytes; the same number gives the same key.
inline std::string key_text(std::uint64_t number) {
  char text[64];
  const auto mixed = fast_hash({reinterpret_cast<const char*>(&number), sizeof number}, 7);
  std::snprintf(text, sizeof text, "f%016llx%016llx%016llx",
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(mixed),
                static_cast<unsigned long long>(~mixed));
  return text;
}

inline storage::memory_key key_of(std::string_view text, std::uint32_t cache = 1) {
  return {cache, text, fast_hash(text, cache)};
}

/// An artifact that contains its key and version, in `size` (at least 16) bytes.
inline artifact versioned(std::uint64_t key, std::uint64_t version, std::size_t size) {
  auto* const body = artifact_body::allocate(0, size);
  std::memset(body->payload_data(), static_cast<char>(key ^ version), size);
  std::memcpy(body->payload_data(), &key, sizeof key);
  std::memcpy(body->payload_data() + 8, &version, sizeof version);
  return artifact::adopt(body);
}

struct seen_version {
  std::uint64_t key = 0, version = 0;
  bool whole = false; ///< every byte equals the one that `versioned` wrote
};

inline seen_version read_version(const artifact& a) {
  seen_version seen;
  const auto bytes = a.payload();
  if (bytes.size() < 16) return seen;
  std::memcpy(&seen.key, bytes.data(), sizeof seen.key);
  std::memcpy(&seen.version, bytes.data() + 8, sizeof seen.version);
  const auto filler = static_cast<char>(seen.key ^ seen.version);
  seen.whole = bytes.find_first_not_of(filler, 16) == std::string_view::npos;
  return seen;
}

/// The number of slots, of all threads, that name a node: zero when none holds an artifact.
inline std::size_t hazards_held() {
  std::size_t held = 0;
  storage::hazard_registry::of_process().each_held([&](const void*) { ++held; });
  return held;
}

} // namespace hearth::test
