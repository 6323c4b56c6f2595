#include "runtime/server/server_context.hpp"

#include <chrono>

namespace hearth::server {

void server_context::note(const noted_request& one, space_counters& in, std::string_view peer,
                          std::string_view user) {
  counters.note(one, in);
  if (!logs_requests || !log) return;
  std::string text(to_string(one.by));
  text.append(" ").append(to_string(one.kind)).append(": ").append(to_string(one.outcome));
  text.append(" for ").append(user).append(" at ").append(peer);
  text += ", " + std::to_string(one.bytes_in) + " bytes in, " + std::to_string(one.bytes_out) +
          " out, " +
          std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(one.took).count()) +
          " us";
  log(log_level::debug, text);
}

void server_context::note_credentials(const expected<identity_ptr>& who, std::string_view peer) {
  if (who) {
    ++counters.credentials_right;
  } else if (who.error().code() == errc::permission) {
    ++counters.credentials_wrong;
    write_log(log_level::warning, "wrong credentials from " + std::string(peer));
  }
}

} // namespace hearth::server
