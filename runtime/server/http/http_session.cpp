#include "runtime/server/http/http_session.hpp"

#include <algorithm>
#include <utility>

namespace hearth::server {
namespace {

request_kind kind_of(const http_request& request) {
  if (!request.route.has_entry()) return request_kind::other;
  const auto& method = request.head.method;
  if (method == "GET") return request_kind::get;
  if (method == "HEAD" || method == "PROPFIND") return request_kind::exists;
  if (method == "PUT") return request_kind::put;
  return method == "DELETE" ? request_kind::erase : request_kind::other;
}

} // namespace

http_session::http_session(session_host& host, server_context& context,
                           const listener_settings& listener)
    : host_(host)
    , context_(context)
    , handler_(host, context, listener) {}

std::span<char> http_session::room() {
  // A body of known size is not copied, once the bytes behind its head are used up.
  is_room_in_body_ = false;
  if (phase_ != phase::body || !body_ || chunks_ || !input_.is_empty()) return input_.room();
  const auto in_place = body_->room();
  is_room_in_body_ = !in_place.empty();
  return is_room_in_body_ ? in_place : input_.room();
}

void http_session::received(std::size_t count) {
  if (phase_ == phase::closed) return;
  if (is_room_in_body_) {
    left_ -= count;
    take_problem(body_->received(count));
  } else {
    input_.commit(count);
  }
  advance();
}

bool http_session::has_output_room() const {
  return host_.output().size() < context_.limits().output_bytes;
}

bool http_session::is_ready() const {
  return (phase_ == phase::head || phase_ == phase::body) && has_output_room();
}

bool http_session::is_idle() const { return phase_ == phase::head && input_.is_empty(); }

void http_session::sent() { advance(); }

void http_session::drain() {
  is_draining_ = true;
  if (is_idle()) close();
}

void http_session::close() {
  phase_ = phase::closed;
  input_.clear();
  host_.close_after_output();
}

void http_session::advance() {
  if (std::exchange(is_advancing_, true)) return;
  while (step()) {
  }
  is_advancing_ = false;
}

// Uses bytes that have come. Returns whether there may be more to do.
bool http_session::step() {
  if (phase_ == phase::head) return read_head();
  return phase_ == phase::body && read_body();
}

bool http_session::read_head() {
  if (!has_output_room()) return false;
  while (input_.view().starts_with("\r\n")) // RFC 9112, 2.2: some clients end a body with one
    input_.consume(2);
  // Only as far as a head may go, so that the answer does not depend on how its bytes arrive.
  const auto head_bytes = context_.limits().header_bytes;
  const auto seen =
      input_.view() == "\r" ? std::string_view{} : input_.view().substr(0, head_bytes);
  const auto end = scanner_.find_end(seen);
  if (!end) {
    refuse_bytes(400, end.error().text());
    return false;
  }
  if (!*end && input_.view().size() > head_bytes) {
    const bool is_line_too_long = seen.find('\n') == seen.npos;
    refuse_bytes(is_line_too_long ? 414 : 431, "the request line and headers are too long");
    return false;
  }
  if (!*end) {
    input_.shrink();
    return false;
  }
  auto head = parse_head(seen.substr(0, **end));
  input_.consume(**end);
  scanner_ = {};
  if (head)
    begin(std::move(*head));
  else
    refuse_bytes(400, head.error().text());
  return true;
}

// The bytes are no request that could be answered: the connection ends.
void http_session::refuse_bytes(unsigned status, std::string_view text) {
  ++context_.counters.protocol_errors;
  request_ = {};
  request_.head.method = "GET";
  begun_ = std::chrono::steady_clock::now();
  auto reply = refusal(request_.route, status, text);
  reply.closes = true;
  finish(std::move(reply));
}

void http_session::begin(request_head head) {
  request_.route = route_of(head.target);
  request_.head = std::move(head);
  begun_ = std::chrono::steady_clock::now();
  left_ = request_.head.content_length.value_or(0);
  if (request_.head.is_chunked) chunks_.emplace(context_.limits().value_bytes);
  phase_ = phase::checking;
  handler_.identify(request_, [this](std::optional<http_reply> refused) {
    admit(std::move(refused));
    if (is_advancing_) return;
    advance();
    host_.resume();
  });
}

void http_session::admit(std::optional<http_reply> refused) {
  if (!refused) refused = handler_.refuse(request_);
  if (!refused && left_ > context_.limits().value_bytes)
    refused = refusal(request_.route, 413, "the body is larger than a value may be");
  if (refused) return skip_body(std::move(*refused));
  begin_body();
}

// Answers once the body is read, so that the connection can go on. A client that waits for leave to
// send it is answered at once; whether it sends the body then is not known, so the connection ends.
void http_session::skip_body(http_reply reply) {
  const bool is_waiting = request_.head.expects != expectation::none;
  reply.closes = reply.closes || (request_.head.has_body() && is_waiting) ||
                 left_ > context_.limits().value_bytes;
  if (reply.closes || !request_.head.has_body()) return finish(std::move(reply));
  refused_ = std::move(reply);
  phase_ = phase::body;
}

void http_session::begin_body() {
  const auto& limits = context_.limits();
  if (auto plan = handler_.plan_body(request_)) {
    auto body = received_body::begin(std::move(*plan), context_.counters.receiving_bytes,
                                     limits.receiving_bytes);
    if (!body) return skip_body(refusal(request_.route, body.error()));
    body_ = std::move(*body);
  }
  phase_ = phase::body;
  const auto& head = request_.head;
  if (head.has_body() && head.expects == expectation::to_continue)
    host_.output().append(continue_reply);
}

bool http_session::read_body() { return chunks_ ? read_chunks() : read_fixed(); }

bool http_session::read_fixed() {
  const auto bytes = input_.view().substr(0, std::min<std::uint64_t>(left_, input_.view().size()));
  add_to_body(bytes);
  left_ -= bytes.size();
  input_.consume(bytes.size());
  if (left_ > 0) return false;
  end_body();
  return true;
}

bool http_session::read_chunks() {
  while (!input_.is_empty() && !chunks_->is_complete()) {
    const auto piece = chunks_->decode(input_.view());
    if (!piece) {
      const bool is_large = piece.error().code() == errc::too_large;
      refuse_bytes(is_large ? 413 : 400, piece.error().text());
      return false;
    }
    add_to_body(piece->data);
    input_.consume(piece->consumed);
  }
  if (!chunks_->is_complete()) return false;
  end_body();
  return true;
}

void http_session::add_to_body(std::string_view bytes) {
  if (body_ && !bytes.empty()) take_problem(body_->write(bytes));
}

// A body that cannot be kept is dropped at once; the rest of it is read.
void http_session::take_problem(const expected<void>& outcome) {
  if (outcome) return;
  body_.reset();
  refused_ = refusal(request_.route, outcome.error());
}

void http_session::end_body() {
  if (refused_) return finish(std::move(*refused_));
  http_body whole;
  if (body_) {
    auto made = body_->finish();
    if (!made) return finish(refusal(request_.route, made.error()));
    whole.value = std::move(*made);
    if (request_.route.kind == route_kind::blob) whole.hash = body_->value_digest();
    stored_bytes_ = whole.value.payload().size();
  }
  phase_ = phase::answering;
  begun_ = std::chrono::steady_clock::now();
  handler_.handle(request_, std::move(whole), input_.is_empty(), [this](http_reply reply) {
    finish(std::move(reply));
    if (is_advancing_) return;
    advance();
    host_.resume();
  });
}

// Sends the reply; the next request can begin.
void http_session::finish(http_reply reply) {
  const bool ends = reply.closes || !request_.head.keeps_alive || is_draining_ ||
                    context_.is_draining.load(std::memory_order_relaxed);
  append_reply(host_.output(), reply, {request_.head.method != "HEAD", !ends});
  note(reply);
  body_.reset();
  refused_.reset();
  chunks_.reset();
  stored_bytes_ = 0;
  phase_ = phase::head;
  if (ends) close();
}

void http_session::note(const http_reply& reply) {
  noted_request one;
  one.by = protocol::http;
  one.kind = kind_of(request_);
  one.outcome = reply.outcome;
  one.bytes_in = reply.outcome == request_outcome::done ? stored_bytes_ : 0;
  one.bytes_out = reply.value && request_.head.method != "HEAD" ? reply.count : 0;
  one.took = std::chrono::steady_clock::now() - begun_;
  // A client may read the parts of a value one after another.
  if (one.bytes_out != 0 && reply.count == reply.value.payload().size())
    one.made_in = time_taken(reply.value);
  context_.note(one, handler_.space(), host_.peer(), handler_.user());
}

} // namespace hearth::server
