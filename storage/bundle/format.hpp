// The constants of a bundle's format, version 1, and the header of a block: docs/bundle-format.md
// byte for byte. Pure functions over plain data, any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/key.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::storage {

/// The first bytes of a bundle. They reveal a transfer that changes line ends or strips the eighth
/// bit.
inline constexpr std::string_view bundle_magic = "\x89HRTHB\r\n";
inline constexpr std::uint32_t bundle_version = 1;
/// The header of a bundle: magic, version, and four zero bytes.
inline constexpr std::size_t bundle_header_bytes = 16;
/// The first bytes that the digest covers, so that it cannot be mistaken for a digest of another
/// kind.
inline constexpr std::string_view bundle_digest_label = "hearth-bundle-1";

/// Maximum content of a block, and maximum bytes of its stored form.
inline constexpr std::size_t bundle_block_bytes = std::size_t{1} << 20;
/// Maximum bytes of the block that ends a bundle.
inline constexpr std::size_t max_bundle_end_bytes = 4096;
inline constexpr int bundle_compression_level = 1;

/// Maximum length of a record's type.
inline constexpr std::size_t max_record_type_bytes = 64;
/// Maximum bytes of the head of a record: metadata, key, and names.
inline constexpr std::size_t max_record_head_bytes = max_metadata_bytes + max_key_bytes + 1024;

enum class block_coding : std::uint32_t { raw = 0, zstd = 1, end = 2 };

/// The header before the stored bytes of a block. All numbers are little-endian.
struct block_header {
  std::uint64_t sum = 0;    ///< checksum of the rest of the header and the stored bytes
  std::uint32_t coding = 0; ///< a `block_coding`
  std::uint32_t stored_bytes = 0;
  std::uint32_t content_bytes = 0; ///< unpacked size; 0 in the last block
  std::uint32_t reserved = 0;
};
inline constexpr std::size_t block_header_bytes = 24;
inline constexpr std::size_t block_sum_bytes = 8;

template <class T>
void put_number(char* to, T number) noexcept {
  for (std::size_t i = 0; i < sizeof number; ++i)
    to[i] = static_cast<char>(number >> (8 * i));
}

/// The number as a bundle stores it: little-endian bytes.
template <class T>
std::string bytes_of(T number) {
  std::string bytes(sizeof number, '\0');
  put_number(bytes.data(), number);
  return bytes;
}

template <class T>
T take_number(const char* from) noexcept {
  T number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number |= static_cast<T>(static_cast<unsigned char>(from[i])) << (8 * i);
  return number;
}

/// Writes `block_header_bytes` bytes.
inline void put_header(char* to, const block_header& header) noexcept {
  put_number(to, header.sum);
  put_number(to + 8, header.coding);
  put_number(to + 12, header.stored_bytes);
  put_number(to + 16, header.content_bytes);
  put_number(to + 20, header.reserved);
}

inline block_header take_header(const char* from) noexcept {
  return {take_number<std::uint64_t>(from), take_number<std::uint32_t>(from + 8),
          take_number<std::uint32_t>(from + 12), take_number<std::uint32_t>(from + 16),
          take_number<std::uint32_t>(from + 20)};
}

/// Whether a writer may have written this header.
constexpr bool is_possible(const block_header& header) noexcept {
  if (header.reserved != 0) return false;
  switch (static_cast<block_coding>(header.coding)) {
  case block_coding::raw:
    return header.stored_bytes == header.content_bytes && header.content_bytes > 0 &&
           header.content_bytes <= bundle_block_bytes;
  case block_coding::zstd:
    return header.stored_bytes < header.content_bytes && header.stored_bytes > 0 &&
           header.content_bytes <= bundle_block_bytes;
  case block_coding::end:
    return header.content_bytes == 0 && header.stored_bytes <= max_bundle_end_bytes;
  }
  return false;
}

} // namespace hearth::storage
