#include "runtime/orchestrator/toolchain.hpp"

#include "tests/runtime/orchestrator/workbench.hpp"

#include <algorithm>

using namespace hearth;
using namespace hearth::orchestrator;
using hearth::test::workbench;

namespace {

bool has_role(const toolchain& of, std::string_view role) {
  return std::any_of(of.files.begin(), of.files.end(),
                     [&](const auto& file) { return file.role == role; });
}

} // namespace

TEST_CASE("g++ is known by its driver, its tools, its version and its target") {
  workbench bench;
  const auto found = bench.identify();
  REQUIRE(found);
  CHECK(found->compiler == "/usr/bin/g++");
  CHECK(found->version.find("g++") != std::string::npos);
  CHECK_FALSE(found->target.empty());
  CHECK(found->direct);
  CHECK(found->understood);
  for (const auto* role : {"driver", "cc1plus", "as", "ld", "collect2", "front end",
                           "library crtbeginS.o", "library libgcc.a"})
    CHECK_MESSAGE(has_role(*found, role), role);
}

TEST_CASE("a compiler that did not change is identified again without starting it") {
  workbench bench;
  const auto first = bench.identify();
  const auto runs = bench.runner.count();
  CHECK(runs > 0);
  const auto second = bench.identify();
  REQUIRE(first);
  REQUIRE(second);
  CHECK(bench.runner.count() == runs);
  CHECK(second->identity == first->identity);
  CHECK(second->include_directories == first->include_directories);
}

TEST_CASE("questions to a compiler never ask for an object") {
  workbench bench;
  bench.flags.push_back("-shared");
  bench.write("a.cpp", "int a;\n");
  REQUIRE(bench.scan("a.cpp"));
  CHECK(bench.runner.count() > 1);
  for (const auto& command : bench.runner.commands())
    for (const auto& argument : command) {
      CHECK(argument != "-c");
      CHECK(argument != "-shared");
      CHECK_FALSE(argument.starts_with("-o"));
    }
}
