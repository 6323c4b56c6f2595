#include "storage/bundle/bundle_writer.hpp"

#include <array>
#include <string>

namespace hearth::storage {

expected<void> bundle_writer::add(record_head head, std::string_view payload) {
  head.payload_bytes = payload.size();
  const auto encoded = encode_head(head);
  if (auto good = decode_head(encoded); !good)
    return fail(errc::invalid_argument, good.error().text());
  ++records_;
  std::array<char, sizeof(std::uint32_t)> length{};
  put_number(length.data(), static_cast<std::uint32_t>(encoded.size()));
  for (const auto part :
       {std::string_view(length.data(), length.size()), std::string_view(encoded), payload})
    if (auto written = blocks_.write(part); !written) return written;
  return {};
}

} // namespace hearth::storage
