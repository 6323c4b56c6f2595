// The msgpack forms that Hearth's encodings write. Any thread.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <msgpack.hpp>
#include <string_view>

namespace hearth {

using packer = msgpack::packer<msgpack::sbuffer>;

inline void pack_text(packer& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  out.pack_str(size).pack_str_body(text.data(), size);
}

inline void pack_bytes(packer& out, std::string_view raw) {
  const auto size = static_cast<std::uint32_t>(raw.size());
  out.pack_bin(size).pack_bin_body(raw.data(), size);
}

/// Writes a float always as msgpack's float 64: msgpack-cxx packs whole numbers as integers, so 1.0
/// would be read as 1.
inline void pack_real(msgpack::sbuffer& out, double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  std::array<char, 9> bytes{'\xcb'};
  for (std::size_t i = 0; i < 8; ++i)
    bytes[i + 1] = static_cast<char>(bits >> (56 - 8 * i));
  out.write(bytes.data(), bytes.size());
}

} // namespace hearth
