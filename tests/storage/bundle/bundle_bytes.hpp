// Bundles in memory, for tests and fuzz targets.
#pragma once

#include "storage/bundle/bundle_reader.hpp"
#include "storage/bundle/bundle_writer.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::test {

using bundle_record = std::pair<storage::record_head, std::string>;
using bundle_records = std::vector<bundle_record>;

/// Appends the writer's output to `bytes`.
inline storage::byte_sink sink_to(std::string& bytes) {
  return [&bytes](std::string_view part) -> expected<void> {
    bytes += part;
    return {};
  };
}

/// Returns `bytes` in reads of at most `step`.
inline storage::byte_source source_of(std::string_view bytes, std::size_t step = SIZE_MAX) {
  return [bytes, step](char* to, std::size_t max_bytes) mutable -> expected<std::size_t> {
    const auto count = std::min({bytes.size(), max_bytes, step});
    std::copy_n(bytes.begin(), count, to);
    bytes.remove_prefix(count);
    return count;
  };
}

inline std::string bundle_of(const bundle_records& records,
                             const storage::signing_keys& keys = {}) {
  std::string bytes;
  storage::bundle_writer out(sink_to(bytes), keys);
  for (const auto& [head, payload] : records)
    if (!out.add(head, payload)) return {};
  return out.finish() ? bytes : std::string{};
}

/// A bundle with correct checksums around content that need not be records.
inline std::string sealed_content(std::string_view content, std::uint64_t records) {
  std::string bytes;
  storage::block_writer out(sink_to(bytes));
  return out.write(content) && out.finish(records, {}) ? bytes : std::string{};
}

/// All records, or the error. Payloads above `max_bytes` are not read.
inline expected<bundle_records> records_of(storage::bundle_reader& in,
                                           std::uint64_t max_bytes = 1u << 24) {
  bundle_records records;
  for (;;) {
    auto head = in.next();
    if (!head) return fail(head.error());
    if (!*head) return records;
    std::string payload(std::min((*head)->payload_bytes, max_bytes), '\0');
    if ((*head)->payload_bytes <= max_bytes)
      if (auto read = in.read_payload(payload.data()); !read) return fail(read.error());
    records.emplace_back(std::move(**head), std::move(payload));
  }
}

inline expected<bundle_records> records_in(std::string_view bytes) {
  storage::bundle_reader in(source_of(bytes));
  return records_of(in);
}

} // namespace hearth::test
