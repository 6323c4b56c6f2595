#include "actors/ports/remote_client.hpp"

#include <utility>

namespace hearth::actors {

std::string_view to_string(remote_failure why) noexcept {
  switch (why) {
  case remote_failure::none: return "none";
  case remote_failure::unreachable: return "unreachable";
  case remote_failure::untrusted: return "untrusted";
  case remote_failure::denied: return "denied";
  case remote_failure::timeout: return "timeout";
  case remote_failure::cut: return "cut";
  case remote_failure::garbage: return "garbage";
  case remote_failure::refused: return "refused";
  case remote_failure::closed: return "closed";
  case remote_failure::node: return "node";
  }
  return "none";
}

void remote_client::send(lane by, command arguments, std::chrono::milliseconds deadline,
                         reply_callback answered) {
  std::vector<command> one;
  one.push_back(std::move(arguments));
  send_all(by, std::move(one), deadline,
           [answered = std::move(answered)](std::size_t, remote_reply reply) {
             answered(std::move(reply));
           });
}

} // namespace hearth::actors
