#include "runtime/net/redis_connection.hpp"

#include <utility>

namespace hearth::net {
namespace {

using actors::remote_failure;
using storage::resp_handshake;
using storage::resp_parser;
using storage::resp_value;

storage::resp_limits limits_of(const remote_endpoint& endpoint) {
  storage::resp_limits limits;
  limits.bytes = endpoint.max_reply_bytes;
  // A set of 65,536 members is a hash of as many fields, and of some that later ones replace.
  limits.items = std::uint64_t{1} << 18;
  return limits;
}

storage::resp_login login_of(const remote_endpoint& endpoint) {
  return {endpoint.user,
          endpoint.password,
          endpoint.database,
          "hearth",
          endpoint.form == remote_form::sentinel,
          endpoint.wants_hearth};
}

} // namespace

redis_connection::redis_connection(boost::asio::io_context& loop, const remote_endpoint& endpoint,
                                   tls_context tls, connection_owner& owner)
    : endpoint_(endpoint)
    , owner_(&owner)
    , transport_(loop, endpoint, std::move(tls))
    , handshake_(login_of(endpoint))
    , parser_(limits_of(endpoint)) {}

void redis_connection::start(host_addresses addresses) {
  if (!owner_) return;
  transport_.connect(std::move(addresses), [self = shared_from_this()](connection_problem problem) {
    if (problem.failure != remote_failure::none) return self->end(std::move(problem));
    if (!self->owner_) return;
    self->greet();
    self->read();
  });
}

void redis_connection::greet() {
  auto command = handshake_.command();
  if (command.empty()) {
    ready_ = true;
    owner_->connection_ready();
  } else {
    waiting_.add(std::move(command));
  }
  flush();
}

void redis_connection::flush() {
  if (!owner_ || writing_ || waiting_.is_empty()) return;
  std::swap(waiting_, sending_);
  writing_ = true;
  transport_.write(sending_.pieces(), [self = shared_from_this()](connection_problem problem) {
    self->writing_ = false;
    self->sending_.clear();
    if (problem.failure != remote_failure::none) return self->end(std::move(problem));
    self->flush();
  });
}

void redis_connection::read() {
  transport_.read_some(parser_.room(),
                       [self = shared_from_this()](connection_problem problem, std::size_t count) {
                         if (problem.failure != remote_failure::none)
                           return self->end(std::move(problem));
                         self->parser_.filled(count);
                         self->take_replies();
                         if (self->owner_) self->read();
                       });
}

void redis_connection::take_replies() {
  resp_value reply;
  while (owner_) {
    const auto got = parser_.next(reply);
    if (got == resp_parser::outcome::more) return;
    if (got == resp_parser::outcome::broken)
      return end({remote_failure::garbage,
                  std::string("the server does not speak RESP: ") + parser_.problem()});
    if (reply.type == resp_value::kind::push) continue; // a push message, not a reply
    if (ready_)
      owner_->connection_replied(std::move(reply));
    else
      take_greeting(reply);
    reply = {};
  }
}

void redis_connection::take_greeting(const resp_value& reply) {
  const auto took = handshake_.take(reply);
  const auto text = without_secret(handshake_.problem(), endpoint_.password);
  switch (took) {
  case resp_handshake::outcome::go_on: return greet();
  case resp_handshake::outcome::refused: return end(problem_of_greeting(text));
  case resp_handshake::outcome::other_server: return end({remote_failure::untrusted, text});
  case resp_handshake::outcome::garbage: return end({remote_failure::garbage, text});
  }
}

void redis_connection::abandon() {
  owner_ = nullptr;
  ready_ = false;
  transport_.close();
}

void redis_connection::end(connection_problem problem) {
  const auto self = shared_from_this(); // the owner may release it
  auto* owner = owner_;
  abandon();
  if (owner) owner->connection_ended(std::move(problem));
}

} // namespace hearth::net
