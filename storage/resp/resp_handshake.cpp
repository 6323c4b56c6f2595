#include "storage/resp/resp_handshake.hpp"

#include <algorithm>
#include <string_view>

namespace hearth::storage {
namespace {

// The errors with which servers before Redis 6, or without RESP3, answer HELLO.
bool is_older(const resp_value& error) {
  return error.text.starts_with("ERR unknown command") || error.text.starts_with("NOPROTO");
}

// Whether the reply to HELLO is that of a replica.
bool is_of_replica(const resp_value& reply) {
  for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
    if (reply.items[i].text == "role") return reply.items[i + 1].text != "master";
  return false;
}

// A member of a map that may be an array of names and values; null: it has none of this name.
const resp_value* member_of(const resp_value& map, std::string_view name) {
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2)
    if (map.items[i].text == name) return &map.items[i + 1];
  return nullptr;
}

// Whether the reply to HELLO is that of a `hearth serve` that has the commands of a remote tier.
bool is_of_hearth(const resp_value& reply) {
  const auto* const modules = member_of(reply, "modules");
  if (!modules) return false;
  return std::any_of(modules->items.begin(), modules->items.end(), [](const resp_value& one) {
    const auto* const name = member_of(one, "name");
    const auto* const version = member_of(one, "ver");
    return name && version && name->text == hearth_module &&
           version->integer >= hearth_module_version;
  });
}

} // namespace

resp_handshake::resp_handshake(resp_login login)
    : login_(std::move(login)) {}

std::vector<std::string> resp_handshake::command() const {
  switch (step_) {
  case step::hello: {
    std::vector<std::string> words{"HELLO", "3"};
    if (has_login())
      words.insert(words.end(),
                   {"AUTH", login_.user.empty() ? "default" : login_.user, login_.password});
    if (!login_.client_name.empty()) words.insert(words.end(), {"SETNAME", login_.client_name});
    return words;
  }
  case step::auth:
    if (login_.user.empty()) return {"AUTH", login_.password};
    return {"AUTH", login_.user, login_.password};
  case step::select: return {"SELECT", std::to_string(login_.database)};
  case step::name: return {"CLIENT", "SETNAME", login_.client_name};
  case step::done: break;
  }
  return {};
}

// HELLO also logs in and sets the client's name, so the database comes next. The older handshake
// has a command for each.
resp_handshake::step resp_handshake::after(step at) const {
  if (at == step::auth && !login_.client_name.empty()) return step::name;
  return at != step::select && login_.database != 0 ? step::select : step::done;
}

resp_handshake::outcome resp_handshake::take(const resp_value& reply) {
  if (step_ == step::hello && login_.wants_hearth && !is_of_hearth(reply) &&
      (!reply.is_error() || is_older(reply))) {
    problem_ = "the server is no hearth serve that can be a remote tier; to a Redis or Valkey say "
               "redis://";
    return outcome::other_server;
  }
  if (step_ == step::hello && reply.is_error() && is_older(reply)) {
    step_ = has_login() ? step::auth : after(step::auth);
    return outcome::go_on;
  }
  if (reply.is_error() && step_ != step::name) return refuse(reply);
  using kind = resp_value::kind;
  const bool fits = step_ == step::hello ? reply.type == kind::map || reply.type == kind::array
                                         : reply.type == kind::text || reply.is_error();
  if (!fits) {
    problem_ = "the server's reply to " + command().front() + " makes no sense";
    return outcome::garbage;
  }
  if (step_ == step::hello && login_.wants_master && is_of_replica(reply)) {
    problem_ = "MASTERDOWN the server is a replica";
    return outcome::refused;
  }
  step_ = after(step_);
  return outcome::go_on;
}

resp_handshake::outcome resp_handshake::refuse(const resp_value& reply) {
  problem_ = reply.text;
  return outcome::refused;
}

} // namespace hearth::storage
