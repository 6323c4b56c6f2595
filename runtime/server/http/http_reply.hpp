// Replies of HTTP/1.1: plain values, and how they go to the output. Pure functions.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "runtime/server/connection/output_queue.hpp"
#include "runtime/server/http/message/http_routes.hpp"
#include "runtime/server/status/server_counters.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::server {

struct http_reply {
  unsigned status = 200;
  std::string_view content_type{}; ///< a constant; empty: no header
  std::string fields{};            ///< further headers, each `Name: value` and CRLF
  std::string text{};              ///< the body, or ...
  artifact value{};                ///< ... a part of this one
  std::size_t offset = 0, count = 0;
  bool closes = false; ///< the connection ends after it: the bytes that follow have no meaning
  request_outcome outcome = request_outcome::done; ///< for the counters

  std::size_t body_bytes() const noexcept { return value ? count : text.size(); }
  void add_field(std::string_view name, std::string_view field_value);
};

/// How a reply is sent: what of the request decides.
struct reply_form {
  bool has_body = true; ///< false: the request was HEAD, the body's length alone is sent
  bool keeps_alive = true;
};

/// Appends the reply.
void append_reply(output_queue& output, const http_reply& reply, reply_form form);

/// The reply that tells a client to send its body.
inline constexpr std::string_view continue_reply = "HTTP/1.1 100 Continue\r\n\r\n";

/// A reply with a line of text, or for Turbo's routes with its JSON.
http_reply refusal(const http_route& route, unsigned status, std::string_view text);
/// The reply for an error of the store: 507 when it is full, 503 when it is worth another try.
http_reply refusal(const http_route& route, const error& why);
/// Asks for credentials.
http_reply unauthorized(const http_route& route, std::string_view text);

/// A value, or the part of it that a `Range` header asks for.
http_reply value_reply(artifact value, std::string_view range_header);

} // namespace hearth::server
