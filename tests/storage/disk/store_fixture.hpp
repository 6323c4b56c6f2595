// Shared by the tests of the store: short functions that open one, and that write and read entries.
#pragma once

#include "storage/disk/store.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

inline storage::store_options small_store(const std::filesystem::path& directory) {
  storage::store_options options;
  options.directory = directory;
  options.budget_bytes = std::uint64_t{64} << 20;
  options.segment_bytes = std::uint64_t{1} << 20;
  options.shards = 1;
  options.sync_interval = std::chrono::milliseconds(0);
  return options;
}

inline std::string numbered(int i) { return "key" + std::to_string(i); }

inline std::unique_ptr<storage::store> open_store(const storage::store_options& options) {
  auto opened = storage::store::open(options);
  if (!opened) FAIL_CHECK(opened.error().to_string());
  return opened ? std::move(*opened) : nullptr;
}

inline const cache_id& test_cache() {
  static const cache_id id = *cache_id::make("graphs");
  return id;
}

/// A single write, applied as a group of one.
inline storage::write_request write(storage::store& store, storage::write_kind kind,
                                    std::string_view key, std::string_view payload = {},
                                    std::string_view metadata = {}, std::int64_t expires = 0,
                                    const cache_id& cache = test_cache()) {
  const storage::entry_key entry(cache, key);
  storage::write_request request{kind, entry};
  if (kind != storage::write_kind::erase) request.value = artifact::make(payload, metadata);
  request.expires_unix_ms = expires;
  store.apply(store.shard_of(entry.hash), {&request, 1});
  return request;
}

inline storage::write_status insert(storage::store& store, std::string_view key,
                                    std::string_view payload, std::string_view metadata = {}) {
  return write(store, storage::write_kind::insert, key, payload, metadata).status;
}
inline storage::write_status put(storage::store& store, std::string_view key,
                                 std::string_view payload) {
  return write(store, storage::write_kind::put, key, payload).status;
}
inline storage::write_status erase(storage::store& store, std::string_view key) {
  return write(store, storage::write_kind::erase, key).status;
}

inline storage::read_result get(storage::store& store, std::string_view key,
                                const cache_id& cache = test_cache()) {
  return store.get({cache, key});
}
/// Returns the payload, "<miss>", "<corrupt>" or "<unreadable>".
inline std::string text_of(storage::store& store, std::string_view key,
                           const cache_id& cache = test_cache()) {
  const auto result = get(store, key, cache);
  switch (result.status) {
  case storage::read_status::hit: return std::string(result.value.payload());
  case storage::read_status::miss: return "<miss>";
  case storage::read_status::corrupt: return "<corrupt>";
  case storage::read_status::unreadable: return "<unreadable>";
  }
  return "<?>";
}

/// Noise that depends on `seed` alone.
inline std::string noise(std::size_t bytes, std::uint64_t seed) {
  std::string text(bytes, '\0');
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (auto& c : text) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    c = static_cast<char>(state >> 32);
  }
  return text;
}

inline std::vector<std::string> keys_of(storage::store& store) {
  std::vector<std::string> keys;
  CHECK(store.list([&](const storage::entry_info& info) {
    keys.push_back(info.key);
    return true;
  }));
  std::sort(keys.begin(), keys.end());
  return keys;
}

} // namespace hearth::test
