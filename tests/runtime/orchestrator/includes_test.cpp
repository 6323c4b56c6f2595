#include "runtime/orchestrator/includes.hpp"

#include "tests/runtime/orchestrator/workbench.hpp"

using namespace hearth;
using namespace hearth::orchestrator;
using hearth::test::names;
using hearth::test::workbench;

namespace {

// The closure of a run that needs no compiler.
source_closure recalled(workbench& bench, const std::string& source,
                        const std::vector<macro>& macros = {}) {
  const auto before = bench.runner.count();
  const auto closure = bench.scan(source, macros);
  REQUIRE(closure);
  CHECK(closure->remembered);
  CHECK(bench.runner.count() == before);
  return *closure;
}

// The closure of a run that has to ask the compiler.
source_closure rescanned(workbench& bench, const std::string& source,
                         const std::vector<macro>& macros = {}) {
  const auto closure = bench.scan(source, macros);
  REQUIRE(closure);
  CHECK_FALSE(closure->remembered);
  return *closure;
}

} // namespace

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

TEST_CASE("an unchanged source is known again without starting a compiler") {
  workbench bench;
  bench.write("b.hpp", "#include <vector>\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto first = rescanned(bench, "a.cpp");
  const auto second = recalled(bench, "a.cpp");
  CHECK(second.identity == first.identity);
  CHECK(second.files.size() == first.files.size());
}

TEST_CASE("a header that was only touched changes nothing") {
  workbench bench;
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto first = rescanned(bench, "a.cpp");
  bench.write("b.hpp", "int b;\n");
  CHECK(recalled(bench, "a.cpp").identity == first.identity);
}

TEST_CASE("a header with another content makes another closure") {
  workbench bench;
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto first = rescanned(bench, "a.cpp");
  bench.write("b.hpp", "int c;\n");
  const auto second = rescanned(bench, "a.cpp");
  CHECK(second.identity != first.identity);
  CHECK_FALSE(first.still_holds());
  bench.write("b.hpp", "int b;\n");
  CHECK(bench.scan("a.cpp")->identity == first.identity);
}
