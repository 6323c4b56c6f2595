// What a client of a Redis Cluster has to know: which slot a name is in, which node serves a slot,
// and where a node sends a client that asked the wrong one. Pure functions and plain values.
// Source: the Redis Cluster specification.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

inline constexpr std::size_t cluster_slots = 16384;

/// The slot of a name: of its hash tag, the text in its first pair of braces, if there is one.
std::uint16_t slot_of(std::string_view name) noexcept;

/// The first name in a command that Hearth sends; nothing: the command names no entry.
std::optional<std::string_view> name_in(std::span<const std::string> command) noexcept;

/// Where a node listens.
struct cluster_address {
  std::string host; ///< a name or an address, IPv6 without brackets; empty: that of the asked node
  std::uint16_t port = 0;

  bool operator==(const cluster_address&) const = default;
  auto operator<=>(const cluster_address&) const = default;
};

/// "host:7000", "[::1]:7000".
std::string to_string(const cluster_address& address);

/// The slots from `first` to `last`, and the node that serves them.
struct slot_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  cluster_address leader;
  friend bool operator==(const slot_range&, const slot_range&) = default;
};

/// The reply to `CLUSTER SLOTS`; nothing when it is none. A range whose node the cluster does not
/// know is left out.
std::optional<std::vector<slot_range>> slot_ranges_in(const resp_value& reply);

/// What a node replies when another one has the slot.
struct cluster_redirect {
  std::uint16_t slot = 0;
  cluster_address to;
  bool is_once = false; ///< ASK: the slot is being moved, only this command goes there
};

/// The redirect in an error, "MOVED 3999 127.0.0.1:6381" or "ASK ..."; nothing: it is another
/// error.
std::optional<cluster_redirect> redirect_in(std::string_view error);

} // namespace hearth::storage
