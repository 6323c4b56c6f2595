// Requests of ccache's storage helper protocol against a session: replies are the same whenever
// bytes and answers come.
#include "runtime/server/crsh/crsh_session.hpp"
#include "tests/fuzz/server/session_run.hpp"

using namespace hearth;
using namespace hearth::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = take_session_input(data, size);
  const auto text =
      run_session(input, [](server::session_host& host, server::server_context& context) {
        return std::make_unique<server::crsh_session>(host, context);
      });
  require(text.starts_with(server::crsh_greeting), "no greeting");
  return 0;
}
