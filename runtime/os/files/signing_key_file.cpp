#include "runtime/os/files/signing_key_file.hpp"

#include "runtime/os/files/whole_file.hpp"

#include <cstdint>

namespace hearth::os {

expected<storage::signing_keys> read_signing_keys(const std::filesystem::path& path) {
  constexpr std::uint64_t max_key_file_bytes = 1u << 20;
  const auto text = read_whole_file(path, max_key_file_bytes);
  if (!text) return fail(text.error());
  auto keys = storage::parse_signing_keys(*text);
  if (!keys) return fail(keys.error().within(path.string()));
  if (keys->empty())
    return fail(errc::malformed, path.string() + ": there is no signing key in it");
  return keys;
}

} // namespace hearth::os
