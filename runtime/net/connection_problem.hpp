// The problem that ended a connection, and the answer to a command from a server's reply. Pure
// functions.
#pragma once

#include "actors/ports/remote_client.hpp"
#include "storage/resp/resp_value.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace hearth::net {

struct connection_problem {
  actors::remote_failure failure = actors::remote_failure::none;
  std::string text; ///< one line without secrets
};

/// No answer came within this time.
connection_problem timeout_after(std::chrono::milliseconds allowed);

/// At most 240 bytes of `text` in one line: a byte that is not printable ASCII becomes a question
/// mark.
std::string one_line(std::string_view text);

/// The text with every occurrence of `secret` replaced by ***: servers quote refused commands.
std::string without_secret(std::string text, std::string_view secret);

/// A server's reply as the answer to a command: an error is a failure, and stays in `value`.
actors::remote_reply answer_of(storage::resp_value reply);
/// The problem of a server that replied this error to the greeting.
connection_problem problem_of_greeting(std::string_view error_text);

} // namespace hearth::net
