// Runs a session over bytes, twice: as one piece with answers that are ready, and in pieces with
// answers that come late and out of order. The replies must be the same.
#pragma once

#include "runtime/server/connection/session.hpp"
#include "runtime/server/server_context.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/server/memory_entries.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hearth::fuzz {

/// How a client behaves, and how it is treated. From the first bytes of an input.
struct session_input {
  std::string_view bytes;
  std::size_t piece = 1;    ///< so many bytes arrive at once
  std::size_t pattern = 0;  ///< the order of late answers
  bool is_anonymous = true; ///< it needs no credentials
  bool is_reader = false;
  bool holds_misses = false;
  bool is_of_namespace = false;
  bool ignores_refused = false;
};
session_input take_session_input(const std::uint8_t* data, std::size_t size);

using make_session = std::function<std::unique_ptr<server::session>(
    server::session_host& host, server::server_context& context)>;

/// Returns the replies. Fails if the two runs differ, if a request is never answered, or if
/// something is still counted when the session has ended.
std::string run_session(const session_input& input, const make_session& make);

} // namespace hearth::fuzz
