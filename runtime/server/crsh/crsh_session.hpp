// One connection of ccache's storage helper protocol, without a socket. The protocol has no
// credentials: a client is the listener's anonymous one. All calls on the connection's thread.
//
// The greeting is in the output once the session exists. One request at a time is handled. Entries
// are in database 0, under the binary key behind a mark of this protocol.
#pragma once

#include "runtime/server/connection/held_leases.hpp"
#include "runtime/server/connection/input_buffer.hpp"
#include "runtime/server/connection/received_body.hpp"
#include "runtime/server/connection/session.hpp"
#include "runtime/server/crsh/crsh_codec.hpp"
#include "runtime/server/server_context.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hearth::server {

class crsh_session : public session {
public:
  /// Both outlive the session.
  crsh_session(session_host& host, server_context& context);

  std::span<char> room() override;
  void received(std::size_t count) override;
  bool is_ready() const override;
  void sent() override;
  void drain() override;
  bool is_idle() const override;

private:
  enum class phase : std::uint8_t {
    request,   // waits for a whole request
    value,     // receives the value of a put
    answering, // waits for the answer
    closed,    // takes no more
  };

  void open_entries();
  void advance();
  bool step();
  bool has_output_room() const;
  bool read_request();
  void begin();
  void begin_value();
  bool read_value();
  void take_problem(const expected<void>& outcome);
  void handle();
  void get();
  void exists();
  void put();
  void remove();
  void store(const artifact& value);
  template <class T, class Next>
  void when_answered(future<T> asked, Next next);
  void go_on();
  void answer(std::string_view bytes, request_outcome outcome);
  void answer_error(const error& why);
  void answer_found(const expected<lookup>& found, bool sends_value);
  void finish(const noted_request& noted);
  void close();

  session_host& host_;
  server_context& context_;
  std::unique_ptr<held_leases> leases_; // null: nobody may in, `problem_` says why
  error problem_;
  space_counters* space_;
  input_buffer input_;
  phase phase_ = phase::request;
  bool is_advancing_ = false;
  bool is_ending_ = false;        // with the next reply
  bool is_room_in_value_ = false; // the last room

  // Of the request that is being handled.
  crsh_request request_;
  std::string key_; // of the entry
  std::chrono::steady_clock::time_point begun_;
  std::unique_ptr<received_body> value_; // null: the value is dropped
  error refused_;                        // why it is dropped
  std::uint64_t left_ = 0;               // of the value

  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace hearth::server
