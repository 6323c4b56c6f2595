#include "actors/remote_tier/failure_severity.hpp"

#include "storage/resp/server_error.hpp"

namespace hearth::actors {
namespace {

using storage::server_error;

// The server replied with an error, so the server is reachable.
failure_severity severity_of_error(server_error what, command_purpose to) {
  switch (what) {
  case server_error::no_writes:
    // Redis refuses PING, too, while it cannot save (MISCONF); it is read all the same.
    if (to == command_purpose::probe) return failure_severity::none;
    return to == command_purpose::write ? failure_severity::writes : failure_severity::entry;
  case server_error::forbidden:
    if (to == command_purpose::write) return failure_severity::writes;
    return to == command_purpose::lease || to == command_purpose::log ? failure_severity::entry
                                                                      : failure_severity::service;
  case server_error::no_service: return failure_severity::service;
  case server_error::no_rights: return failure_severity::service_at_once;
  case server_error::wrong_type:
  case server_error::no_command:
  case server_error::other:
  case server_error::none: break;
  }
  // A probe has no arguments, so the fault is the server's.
  return to == command_purpose::probe ? failure_severity::service : failure_severity::entry;
}

} // namespace

std::string_view server_text(const remote_reply& reply) noexcept {
  return reply.value.is_error() ? std::string_view(reply.value.text) : reply.problem;
}

failure_severity severity_of(const remote_reply& reply, command_purpose what) {
  const auto said = storage::server_error_of(server_text(reply));
  switch (reply.failure) {
  case remote_failure::none:
    return reply.value.is_error() ? severity_of_error(said, what) : failure_severity::none;
  case remote_failure::closed: return failure_severity::none;
  case remote_failure::unreachable:
  case remote_failure::untrusted:
  case remote_failure::timeout: return failure_severity::service_at_once;
  case remote_failure::cut: return failure_severity::service;
  case remote_failure::node: return failure_severity::node;
  case remote_failure::garbage:
    return said == server_error::none ? failure_severity::service : severity_of_error(said, what);
  case remote_failure::denied:
    return said == server_error::forbidden ? severity_of_error(said, what)
                                           : failure_severity::service_at_once;
  case remote_failure::refused: return severity_of_error(said, what);
  }
  return failure_severity::service;
}

} // namespace hearth::actors
