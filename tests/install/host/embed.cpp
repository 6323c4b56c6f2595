// The program of the README, with the other public headers beside it.
#include <hearth/actions.hpp>
#include <hearth/attachments.hpp>
#include <hearth/bundle.hpp>
#include <hearth/code.hpp>
#include <hearth/code_files.hpp>
#include <hearth/explain.hpp>
#include <hearth/graph_cache.hpp>
#include <hearth/guards.hpp>
#include <hearth/hearth.hpp>
#include <hearth/kernel_cache.hpp>
#include <hearth/keys.hpp>
#include <hearth/modules.hpp>
#include <hearth/nested_cache.hpp>
#include <hearth/plain_store.hpp>
#include <hearth/system.hpp>
#include <hearth/toolchain.hpp>
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

  // What a host's keys are made of.
  const auto compiler = hearth::identify_compiler(rt, "g++");
  const auto made_of = hearth::key_builder()
                           .add("compiler", compiler ? compiler->details : hearth::key_field())
                           .add("machine", hearth::fingerprints::system_info())
                           .build();
  const auto history = hearth::key_history::open(rt);
  const auto guard = hearth::guard_expression::parse("m % 8 == 0");
  if (!made_of || !history || !history->note("kernel", made_of->details) ||
      !history->explain("kernel", made_of->details)->differences.empty() ||
      !guard->evaluate({{"m", 16}}).value_or(false) ||
      hearth::fingerprints::code_hash("code").size() != 52 ||
      !hearth::fingerprints::toolchain_key({}).get())
    return std::cerr << "the parts of keys are not as they should be\n", 1;
  const hearth::error why(hearth::errc::no_space, "the disk is full");
  std::cout << why.to_string() << '\n';
}
