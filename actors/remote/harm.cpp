#include "actors/remote/harm.hpp"

#include "storage/remote/server_error.hpp"

namespace hearth::actors {
namespace {

using storage::server_error;

// What the server replied is an error: it lives.
harm harm_of_error(server_error what, errand to) {
  switch (what) {
  case server_error::no_writes: return to == errand::write ? harm::writes : harm::entry;
  case server_error::forbidden:
    if (to == errand::write) return harm::writes;
    return to == errand::lease ? harm::entry : harm::service;
  case server_error::no_service: return harm::service;
  case server_error::no_rights: return harm::service_at_once;
  case server_error::wrong_type:
  case server_error::no_command:
  case server_error::other:
  case server_error::none: break;
  }
  // A probe has nothing of its own that could be wrong.
  return to == errand::probe ? harm::service : harm::entry;
}

} // namespace

std::string_view server_text(const remote_reply& reply) noexcept {
  return reply.value.is_error() ? std::string_view(reply.value.text) : reply.problem;
}

harm harm_of(const remote_reply& reply, errand what) {
  const auto said = storage::server_error_of(server_text(reply));
  switch (reply.failure) {
  case remote_failure::none: return reply.value.is_error() ? harm_of_error(said, what) : harm::none;
  case remote_failure::closed: return harm::none;
  case remote_failure::unreachable:
  case remote_failure::untrusted:
  case remote_failure::timeout: return harm::service_at_once;
  case remote_failure::cut: return harm::service;
  case remote_failure::garbage:
    return said == server_error::none ? harm::service : harm_of_error(said, what);
  case remote_failure::denied:
    return said == server_error::forbidden ? harm_of_error(said, what) : harm::service_at_once;
  case remote_failure::refused: return harm_of_error(said, what);
  }
  return harm::service;
}

} // namespace hearth::actors
