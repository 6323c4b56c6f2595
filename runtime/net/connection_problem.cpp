#include "runtime/net/connection_problem.hpp"

#include "messages/replace_all.hpp"
#include "storage/resp/server_error.hpp"

namespace hearth::net {
namespace {

using actors::remote_failure;

constexpr std::size_t max_text_bytes = 240;

remote_failure failure_of(std::string_view error_text) {
  using storage::server_error;
  switch (storage::server_error_of(error_text)) {
  case server_error::no_rights:
  case server_error::forbidden: return remote_failure::denied;
  case server_error::wrong_type: return remote_failure::garbage;
  default: return remote_failure::refused;
  }
}

} // namespace

connection_problem timeout_after(std::chrono::milliseconds allowed) {
  return {remote_failure::timeout, "no answer within " + std::to_string(allowed.count()) + " ms"};
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, max_text_bytes));
  for (char& c : line)
    if (c < ' ' || c > '~') c = '?';
  return line;
}

std::string without_secret(std::string text, std::string_view secret) {
  replace_all(text, secret, "***");
  return text;
}

actors::remote_reply answer_of(storage::resp_value reply) {
  actors::remote_reply answer;
  if (reply.is_error()) {
    answer.failure = failure_of(reply.text);
    answer.problem = one_line(reply.text);
  }
  answer.value = std::move(reply);
  return answer;
}

// A server that serves nobody now is as one that cannot be kept connected to.
connection_problem problem_of_greeting(std::string_view error_text) {
  const bool is_busy = storage::server_error_of(error_text) == storage::server_error::no_service;
  return {is_busy ? remote_failure::cut : failure_of(error_text), one_line(error_text)};
}

} // namespace hearth::net
