// The `Range` header of a request. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace hearth::server {

enum class range_form : std::uint8_t {
  whole,         ///< no range, one that is not understood, or several: the whole value is sent
  part,          ///< 206
  unsatisfiable, ///< 416
};

struct byte_range {
  range_form form = range_form::whole;
  std::uint64_t offset = 0, count = 0; ///< of `part`
};

/// The range of a value of `size` bytes that a header (`bytes=0-99`, `bytes=100-`, `bytes=-5`)
/// asks for.
byte_range range_of(std::string_view header, std::uint64_t size);

} // namespace hearth::server
