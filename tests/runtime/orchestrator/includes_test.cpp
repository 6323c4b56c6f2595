#include "runtime/orchestrator/includes.hpp"

#include "tests/runtime/orchestrator/workbench.hpp"

using namespace hearth;
using namespace hearth::orchestrator;
using hearth::test::names;
using hearth::test::workbench;

TEST_CASE("a closure holds the source, its headers and system headers") {
  workbench bench;
  bench.write("sub/b.hpp", "#include <cstddef>\n");
  bench.write("a.cpp", "#include \"sub/b.hpp\"\n");
  const auto closure = bench.scan("a.cpp");
  REQUIRE(closure);
  CHECK(names(*closure, "a.cpp"));
  CHECK(names(*closure, "sub/b.hpp"));
  CHECK(std::any_of(closure->files.begin(), closure->files.end(),
                    [](const auto& file) { return file.name.ends_with("/cstddef"); }));
  CHECK(closure->still_holds());
}
