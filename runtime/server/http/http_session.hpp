// One connection of HTTP/1.1, without a socket: requests come in, replies go out in their order.
//
// One request at a time is handled; pipelined ones wait in the buffer. A body is received into the
// value that is stored, or read and dropped, so that the connection goes on after a refusal. What
// cannot be framed ends the connection. All calls on the connection's thread.
#pragma once

#include "runtime/server/connection/input_buffer.hpp"
#include "runtime/server/connection/received_body.hpp"
#include "runtime/server/connection/session.hpp"
#include "runtime/server/http/http_handler.hpp"
#include "runtime/server/http/http_reply.hpp"
#include "runtime/server/http/message/chunked_decoder.hpp"
#include "runtime/server/http/message/request_head.hpp"
#include "runtime/server/server_context.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace hearth::server {

class http_session : public session {
public:
  /// All outlive the session.
  http_session(session_host& host, server_context& context, const listener_settings& listener);

  std::span<char> room() override;
  void received(std::size_t count) override;
  bool is_ready() const override;
  void sent() override;
  void drain() override;
  bool is_idle() const override;

private:
  enum class phase : std::uint8_t {
    head,      // waits for a whole head
    checking,  // waits for the client's identity
    body,      // receives
    answering, // waits for the answer
    closed,    // takes no more
  };

  void advance();
  bool step();
  bool has_output_room() const;
  bool read_head();
  void refuse_bytes(unsigned status, std::string_view text);
  void begin(request_head head);
  void admit(std::optional<http_reply> refused);
  void skip_body(http_reply reply);
  void begin_body();
  bool read_body();
  bool read_fixed();
  bool read_chunks();
  void add_to_body(std::string_view bytes);
  void take_problem(const expected<void>& outcome);
  void end_body();
  void finish(http_reply reply);
  void note(const http_reply& reply);
  void close();

  session_host& host_;
  server_context& context_;
  http_handler handler_;
  input_buffer input_;
  phase phase_ = phase::head;
  bool is_advancing_ = false;
  bool is_room_in_body_ = false; // the last room
  bool is_draining_ = false;

  // Of the head that is being received.
  head_scanner scanner_;

  // Of the request that is being handled.
  http_request request_;
  std::chrono::steady_clock::time_point begun_;
  std::unique_ptr<received_body> body_; // null: the body is dropped
  std::optional<http_reply> refused_;   // to send once the body is read
  std::optional<chunked_decoder> chunks_;
  std::uint64_t left_ = 0; // of a body of known length
  std::uint64_t stored_bytes_ = 0;
};

} // namespace hearth::server
