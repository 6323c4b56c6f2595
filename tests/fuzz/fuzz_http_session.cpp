// Requests of HTTP/1.1 against a session: replies are the same whenever bytes and answers come.
#include "runtime/server/http/http_session.hpp"
#include "tests/fuzz/server/session_run.hpp"

using namespace hearth;
using namespace hearth::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = take_session_input(data, size);
  server::listener_settings listener;
  listener.speaks = server::protocol::http;
  listener.validate_results = input.pattern % 4 == 3;
  const auto text =
      run_session(input, [&](server::session_host& host, server::server_context& context) {
        return std::make_unique<server::http_session>(host, context, listener);
      });
  require(text.empty() || text.starts_with("HTTP/1.1 ") || text == "(closed)",
          "what is sent is no reply");
  return 0;
}
