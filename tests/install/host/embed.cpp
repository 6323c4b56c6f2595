// The program of the README, with the other public headers beside it.
#include <hearth/actions.hpp>
#include <hearth/attachments.hpp>
#include <hearth/bundle.hpp>
#include <hearth/code.hpp>
#include <hearth/graph_cache.hpp>
#include <hearth/hearth.hpp>
#include <hearth/kernel_cache.hpp>
#include <hearth/modules.hpp>
#include <hearth/nested_cache.hpp>
#include <hearth/plain_store.hpp>
#include <hearth/tunings.hpp>

#include <iostream>

namespace {

hearth::expected<hearth::artifact> compile(const char* source) {
  return hearth::artifact::make(source);
}

} // namespace

int main(int, char** arguments) {
  const char* const source = "machine code";
  hearth::runtime rt{{.store = arguments[1]}};
  auto kernels = rt.open("kernels").value();
  auto binary = kernels.get_or_compile("matmul-256", [&] { return compile(source); });
  std::cout << binary->payload() << ' ' << hearth::version() << '\n';

  const auto actions = hearth::action_cache::open(rt);
  const auto ran = actions->run(hearth::action({"echo", "an action"}));
  if (!ran) return std::cerr << ran.error().text() << '\n', 1;
  std::cout << ran->out;
  const hearth::error why(hearth::errc::no_space, "the disk is full");
  std::cout << why.to_string() << '\n';
}
