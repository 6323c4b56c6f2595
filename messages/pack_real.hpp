// A float as msgpack's float 64, always: msgpack-cxx packs whole numbers as integers, so that 1.0
// would come back as 1.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <msgpack.hpp>

namespace hearth {

inline void pack_real(msgpack::sbuffer& out, double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  std::array<char, 9> bytes{'\xcb'};
  for (std::size_t i = 0; i < 8; ++i)
    bytes[i + 1] = static_cast<char>(bits >> (56 - 8 * i));
  out.write(bytes.data(), bytes.size());
}

} // namespace hearth
