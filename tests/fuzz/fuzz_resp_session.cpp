// Commands of the Redis protocol against a session: replies are the same whenever bytes and answers
// come, and each is a reply of the protocol.
#include "runtime/server/resp/resp_session.hpp"
#include "storage/resp/resp_parser.hpp"
#include "tests/fuzz/server/session_run.hpp"

using namespace hearth;
using namespace hearth::fuzz;

namespace {

void check_replies(std::string_view text) {
  storage::resp_parser parser({}, storage::resp_side::server);
  storage::resp_value reply;
  for (;;) {
    const auto got = parser.take(text, reply);
    require(got != storage::resp_parser::outcome::broken, "what is sent is no reply");
    if (got == storage::resp_parser::outcome::more) break;
  }
  require(parser.is_between_values(), "a reply is cut");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = take_session_input(data, size);
  auto text = run_session(input, [](server::session_host& host, server::server_context& context) {
    return std::make_unique<server::resp_session>(host, context);
  });
  constexpr std::string_view closed = "(closed)";
  if (text.ends_with(closed)) text.resize(text.size() - closed.size());
  check_replies(text);
  return 0;
}
