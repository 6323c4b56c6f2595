// The scripts (EVAL) that the remote tier sends: each compares and changes one name in one step.
// `hearth serve` carries out these and no others, so both have the texts from here. Pure functions,
// any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::storage {

enum class remote_script : std::uint8_t {
  renew_lease,  ///< token, ms: a lease that is free or the token's lasts that long from now
  give_back,    ///< token: a lease that is the token's ends
  add_fields,   ///< ms, field, bytes, ...: adds to a hash, which lasts that long from now
  replace_mark, ///< mark, bytes, ms: a name that is free or has the mark gets the bytes; 0: for
                ///< ever
};
inline constexpr std::size_t remote_script_count = 4;

/// The script's text, in Lua. Each has one key.
std::string_view text_of(remote_script script) noexcept;
/// The script with this text; empty: none of them.
std::optional<remote_script> script_of(std::string_view text) noexcept;

} // namespace hearth::storage
