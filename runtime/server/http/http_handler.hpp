// What HTTP requests do: who may, and what is looked up or stored. It knows nothing of bytes on a
// connection. Owned by one session, used on its connection's thread, one request at a time.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "runtime/server/connection/held_leases.hpp"
#include "runtime/server/connection/received_body.hpp"
#include "runtime/server/connection/session.hpp"
#include "runtime/server/http/http_reply.hpp"
#include "runtime/server/http/message/http_routes.hpp"
#include "runtime/server/http/message/request_head.hpp"
#include "runtime/server/server_context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

struct http_request {
  request_head head;
  http_route route;
};

/// The body of a PUT, once it is whole.
struct http_body {
  artifact value;
  digest hash; ///< of a blob
};

class http_handler {
public:
  using reply_callback = std::function<void(http_reply)>;

  /// All outlive this object.
  http_handler(session_host& host, server_context& context, const listener_settings& listener);
  http_handler(const http_handler&) = delete;
  http_handler& operator=(const http_handler&) = delete;

  /// Finds out who the client is. Then calls `next`, with the refusal if it may not go on. At once,
  /// or later when the credentials have to be checked.
  void identify(const http_request& request, std::function<void(std::optional<http_reply>)> next);
  /// What is wrong with a request whose body has not been read. Follows `identify`.
  std::optional<http_reply> refuse(const http_request& request) const;
  /// How the body is received; empty: it is read and dropped.
  std::optional<body_plan> plan_body(const http_request& request) const;
  /// Answers a request that was not refused. `is_last`: the client has sent nothing behind it, so
  /// that it can wait. Calls `answer` once, unless this object is gone by then; `request` lives
  /// until then.
  void handle(const http_request& request, http_body body, bool is_last, reply_callback answer);

  /// The counts of the client's namespace.
  space_counters& space() const noexcept { return *space_; }
  /// The client's user, for the log.
  std::string_view user() const noexcept {
    return identity_ ? std::string_view(identity_->user) : "nobody";
  }

private:
  template <class T, class Next>
  void when_answered(future<T> asked, Next next);
  std::optional<http_reply> act_for(const http_route& route, const identity_ptr& who);
  void check_credentials(const http_request& request,
                         std::function<void(std::optional<http_reply>)> next);
  std::optional<http_reply> take_answer(const http_request& request, expected<identity_ptr> who);
  std::optional<http_reply> refuse_page(const http_request& request) const;
  std::optional<http_reply> refuse_write(const http_request& request) const;

  void answer_page(const http_request& request, reply_callback answer);
  void make_page(const std::function<std::string()>& make, std::string_view content_type,
                 reply_callback answer);
  void handle_entry(const http_request& request, http_body body, bool is_last,
                    reply_callback answer);
  void get(const http_request& request, bool is_last, reply_callback answer);
  void answer_found(const http_request& request, expected<lookup> found, reply_callback answer);
  void get_when_sendable(const http_request& request, std::uint64_t bytes, reply_callback answer);
  void answer_result(const http_request& request, lookup found, reply_callback answer);
  struct blob_search;
  void find_blobs(const std::shared_ptr<blob_search>& search);
  void put(const http_request& request, http_body body, reply_callback answer);
  void put_blob(const http_request& request, const http_body& body, reply_callback answer);
  void put_new(const http_request& request, const artifact& value, reply_callback answer);
  void erase(const http_request& request, reply_callback answer);
  void find_properties(const http_request& request, reply_callback answer);

  session_host& host_;
  server_context& context_;
  const listener_settings& listener_;
  identity_ptr identity_;
  std::string authorization_; // that `identity_` was found by; empty: none
  std::unique_ptr<held_leases> leases_;
  space_counters* space_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

} // namespace hearth::server
