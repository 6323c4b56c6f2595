#include "runtime/fingerprints/includes/includes.hpp"

#include "tests/support/workbench.hpp"

#include <filesystem>
#include <thread>

namespace includes_test {

using namespace hearth;
using namespace hearth::fingerprints;
using hearth::test::names;
using hearth::test::workbench;

namespace {

// The closure of a run that must not need a compiler.
source_closure recalled(workbench& bench, const std::string& source,
                        const std::vector<macro>& macros = {}) {
  const auto before = bench.runner.count();
  const auto closure = bench.scan(source, macros);
  REQUIRE(closure);
  CHECK(closure->remembered);
  CHECK(bench.runner.count() == before);
  return *closure;
}

// The closure of a run that must ask the compiler.
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

TEST_CASE("an unchanged source is recognised without starting a compiler") {
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

TEST_CASE("a new header that comes earlier in the search path is seen") {
  workbench bench;
  bench.flags = {"-Ifirst", "-Isecond", "-Imissing"};
  bench.write("first/other.hpp", "\n");
  bench.write("second/b.hpp", "int b;\n");
  bench.write("a.cpp", "#include <b.hpp>\n");
  const auto first = rescanned(bench, "a.cpp");
  CHECK(names(first, "second/b.hpp"));
  recalled(bench, "a.cpp");
  bench.write("first/b.hpp", "int shadow;\n");
  const auto second = rescanned(bench, "a.cpp");
  CHECK(names(second, "first/b.hpp"));
  CHECK_FALSE(names(second, "second/b.hpp"));
  CHECK(second.identity != first.identity);
}

TEST_CASE("a new header beside a file that includes by quotes is seen") {
  workbench bench;
  bench.flags = {"-I."};
  bench.write("b.hpp", "int b;\n");
  bench.write("sub/c.hpp", "#include \"b.hpp\"\n");
  bench.write("a.cpp", "#include \"sub/c.hpp\"\n");
  CHECK(names(rescanned(bench, "a.cpp"), "b.hpp"));
  bench.write("sub/b.hpp", "int shadow;\n");
  CHECK(names(rescanned(bench, "a.cpp"), "sub/b.hpp"));
}

TEST_CASE("a missing folder of the search path is seen when it appears") {
  workbench bench;
  bench.flags = {"-Imissing/deep", "-Isecond"};
  bench.write("second/b.hpp", "int b;\n");
  bench.write("a.cpp", "#include <b.hpp>\n");
  rescanned(bench, "a.cpp");
  bench.write("missing/deep/b.hpp", "int shadow;\n");
  CHECK(names(rescanned(bench, "a.cpp"), "missing/deep/b.hpp"));
}

TEST_CASE("files that no include names have no effect") {
  workbench bench;
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto first = rescanned(bench, "a.cpp");
  bench.write("unrelated.hpp", "int u;\n");
  bench.write("a.o", "object");
  CHECK(recalled(bench, "a.cpp").identity == first.identity);
}

TEST_CASE("a header that has_include did not find is seen when it appears and when it is removed") {
  workbench bench;
  bench.write("a.cpp", "#if __has_include(\"maybe.hpp\")\n#include \"maybe.hpp\"\n#endif\n");
  const auto without = rescanned(bench, "a.cpp");
  recalled(bench, "a.cpp");
  bench.write("maybe.hpp", "int m;\n");
  const auto with = rescanned(bench, "a.cpp");
  CHECK(names(with, "maybe.hpp"));
  CHECK(with.identity != without.identity);
  std::filesystem::remove(bench.folder / "maybe.hpp");
  CHECK(rescanned(bench, "a.cpp").identity == without.identity);
}

TEST_CASE("a header that has_include found without including it is missed when it is removed") {
  workbench bench;
  bench.write("maybe.hpp", "int m;\n");
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#if !__has_include(\"maybe.hpp\")\n#include \"b.hpp\"\n#endif\n");
  CHECK_FALSE(names(rescanned(bench, "a.cpp"), "b.hpp"));
  std::filesystem::remove(bench.folder / "maybe.hpp");
  CHECK(names(rescanned(bench, "a.cpp"), "b.hpp"));
}

TEST_CASE("has_include of a macro is asked anew in each run") {
  workbench bench;
  bench.write("a.cpp", "#define NAME <maybe.hpp>\n#if __has_include(NAME)\n#endif\n");
  rescanned(bench, "a.cpp");
  rescanned(bench, "a.cpp");
}

TEST_CASE("an include that a macro spells is remembered and its shadow is seen") {
  workbench bench;
  bench.flags = {"-Ifirst", "-Isecond"};
  bench.write("first/other.hpp", "\n");
  bench.write("second/sub/b.hpp", "int b;\n");
  bench.write("a.cpp", "#define NAME <sub/b.hpp>\n#include NAME\n");
  rescanned(bench, "a.cpp");
  recalled(bench, "a.cpp");
  bench.write("first/sub/b.hpp", "int shadow;\n");
  CHECK(names(rescanned(bench, "a.cpp"), "first/sub/b.hpp"));
}

TEST_CASE("a removed header is an error that carries the compiler's message") {
  workbench bench;
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  rescanned(bench, "a.cpp");
  std::filesystem::remove(bench.folder / "b.hpp");
  const auto closure = bench.scan("a.cpp");
  REQUIRE_FALSE(closure);
  CHECK(closure.error().code() == errc::compile_failed);
  CHECK(closure.error().text().find("b.hpp: No such file") != std::string::npos);
  CHECK(bench.scan("missing.cpp").error().code() == errc::not_found);
}

TEST_CASE("a symbolic link counts as its target") {
  workbench bench;
  bench.write("one.hpp", "int one;\n");
  bench.write("two.hpp", "int two;\n");
  std::filesystem::create_symlink("one.hpp", bench.folder / "b.hpp");
  std::filesystem::create_symlink("later.hpp", bench.folder / "maybe.hpp");
  bench.write("a.cpp", "#include \"b.hpp\"\n#if __has_include(\"maybe.hpp\")\n#endif\n");
  const auto first = rescanned(bench, "a.cpp");
  recalled(bench, "a.cpp");
  std::filesystem::remove(bench.folder / "b.hpp");
  std::filesystem::create_symlink("two.hpp", bench.folder / "b.hpp");
  CHECK(rescanned(bench, "a.cpp").identity != first.identity);
  recalled(bench, "a.cpp");
  bench.write("later.hpp", "\n");
  rescanned(bench, "a.cpp");
}

TEST_CASE("unusual names are understood") {
  workbench bench;
  const std::string strange = "d ir/h $x#y:z 'q' %|;&*?[]\xc3\xbc.hpp";
  bench.write(strange, "int s;\n");
  bench.write("tab\tname.hpp", "int t;\n");
  bench.write("back\\slash.hpp", "int b;\n");
  bench.write("back\\ slash#.hpp", "int c;\n");
  bench.write("m $ain.cpp", "#include \"" + strange +
                                "\"\n#include \"tab\tname.hpp\"\n#include \"back\\slash.hpp\"\n"
                                "#include \"back\\ slash#.hpp\"\n");
  const auto closure = rescanned(bench, "m $ain.cpp");
  for (const auto& name : {strange, std::string("tab\tname.hpp"), std::string("back\\slash.hpp"),
                           std::string("back\\ slash#.hpp"), std::string("m $ain.cpp")})
    CHECK_MESSAGE(names(closure, name), name);
  recalled(bench, "m $ain.cpp");
}

TEST_CASE("macros that choose no files share one scan") {
  workbench bench;
  bench.write("a.cpp", "#ifndef TILE\n#define TILE 1\n#endif\n#include <cmath>\nint x[TILE];\n");
  const auto first = rescanned(bench, "a.cpp", {{"TILE", "16"}});
  CHECK(recalled(bench, "a.cpp", {{"TILE", "32"}}).identity == first.identity);
}

TEST_CASE("macros that choose files have a closure each") {
  workbench bench;
  bench.write("small.hpp", "int s;\n");
  bench.write("large.hpp", "int l;\n");
  bench.write("a.cpp", "#if TILE == 16\n#include \"small.hpp\"\n#else\n#include \"large.hpp\"\n"
                       "#endif\n");
  const auto small = rescanned(bench, "a.cpp", {{"TILE", "16"}});
  const auto large = rescanned(bench, "a.cpp", {{"TILE", "32"}});
  CHECK(names(small, "small.hpp"));
  CHECK(names(large, "large.hpp"));
  CHECK(recalled(bench, "a.cpp", {{"TILE", "16"}}).identity == small.identity);
  CHECK(recalled(bench, "a.cpp", {{"TILE", "32"}}).identity == large.identity);
}

TEST_CASE("an edit that makes a macro choose files is seen for every configuration") {
  workbench bench;
  bench.write("small.hpp", "int s;\n");
  bench.write("a.cpp", "int x = TILE;\n");
  rescanned(bench, "a.cpp", {{"TILE", "16"}});
  bench.write("a.cpp", "#if TILE == 16\n#include \"small.hpp\"\n#endif\n");
  CHECK_FALSE(names(rescanned(bench, "a.cpp", {{"TILE", "32"}}), "small.hpp"));
  CHECK(names(rescanned(bench, "a.cpp", {{"TILE", "16"}}), "small.hpp"));
}

TEST_CASE("a precompiled header that GCC would use belongs to the closure") {
  workbench bench;
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto first = rescanned(bench, "a.cpp");
  bench.write("b.hpp.gch", "stale");
  const auto second = rescanned(bench, "a.cpp");
  CHECK(second.identity != first.identity);
  bench.write("b.hpp.gch", "other");
  CHECK(rescanned(bench, "a.cpp").identity != second.identity);
}

TEST_CASE("headers that flags include belong to the closure") {
  workbench bench;
  bench.flags = {"-include", "forced.hpp"};
  bench.write("forced.hpp", "int f;\n");
  bench.write("a.cpp", "int a;\n");
  const auto first = rescanned(bench, "a.cpp");
  CHECK(names(first, "forced.hpp"));
  bench.write("forced.hpp", "int g;\n");
  CHECK(rescanned(bench, "a.cpp").identity != first.identity);
}

TEST_CASE("damaged and foreign memo bytes are ignored") {
  workbench bench;
  bench.write("b.hpp", "int b;\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto first = rescanned(bench, "a.cpp");
  const auto kept = bench.memo.entries;
  for (int step = 0; step < 24; ++step) {
    for (auto& [key, bytes] : bench.memo.entries) {
      if (step % 3 == 0) bytes.resize(bytes.size() * static_cast<std::size_t>(step) / 24);
      if (step % 3 == 1) bytes[bytes.size() * static_cast<std::size_t>(step) / 24] ^= 0x41;
      if (step % 3 == 2) bytes = "\x83" + bytes;
    }
    const auto again = bench.scan("a.cpp");
    REQUIRE(again);
    CHECK(again->identity == first.identity);
    bench.memo.entries = kept;
  }
}

TEST_CASE("a source that embeds a file which the compiler does not list is refused") {
  workbench bench;
  bench.write("b.hpp", "asm(\".incbin \\\"data\\\"\");\n");
  bench.write("a.cpp", "#include \"b.hpp\"\n");
  const auto refused = bench.scan("a.cpp");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == errc::unsupported);
  CHECK(refused.error().text().find("b.hpp speaks of .incbin") != std::string::npos);
}

TEST_CASE("two checkouts of a plan have one identity") {
  workbench one;
  workbench other;
  for (auto* bench : {&one, &other}) {
    bench->write("sub/b.hpp", "#include <cstddef>\n");
    bench->write("a.cpp", "#include \"sub/b.hpp\"\n");
  }
  CHECK(rescanned(one, "a.cpp").identity == rescanned(other, "a.cpp").identity);
  other.write("sub/b.hpp", "#include <cstdint>\n");
  CHECK(one.scan("a.cpp")->identity != other.scan("a.cpp")->identity);
}

TEST_CASE("CPATH chooses headers and other variables do not") {
  workbench bench;
  bench.write("one/b.hpp", "int one;\n");
  bench.write("two/b.hpp", "int two;\n");
  bench.write("a.cpp", "#include <b.hpp>\n");
  bench.variables.push_back("CPATH=one");
  CHECK(names(rescanned(bench, "a.cpp"), "one/b.hpp"));
  bench.variables.push_back("UNRELATED=1");
  recalled(bench, "a.cpp");
  bench.variables.push_back("CPATH=two");
  CHECK(names(rescanned(bench, "a.cpp"), "two/b.hpp"));
}

TEST_CASE("clang++ is scanned and remembered as well" * doctest::skip(!hearth::test::has_clang())) {
  workbench bench;
  bench.compiler = "clang++";
  bench.flags = {"-std=c++20", "-Ifirst", "-Isecond"};
  bench.write("first/other.hpp", "\n");
  bench.write("second/b $ #.hpp", "#include <cstddef>\n");
  bench.write("a.cpp", "#include <b $ #.hpp>\n");
  const auto first = rescanned(bench, "a.cpp");
  CHECK(names(first, "second/b $ #.hpp"));
  CHECK(recalled(bench, "a.cpp").identity == first.identity);
  bench.write("first/b $ #.hpp", "int shadow;\n");
  CHECK(names(rescanned(bench, "a.cpp"), "first/b $ #.hpp"));
  std::filesystem::remove(bench.folder / "first/b $ #.hpp");
  std::filesystem::remove(bench.folder / "second/b $ #.hpp");
  CHECK(bench.scan("a.cpp").error().text().find("file not found") != std::string::npos);
}

TEST_CASE("many threads share the scans of one run") {
  workbench bench;
  bench.write("b.hpp", "#include <cstddef>\n");
  for (int i = 0; i < 3; ++i)
    bench.write("k" + std::to_string(i) + ".cpp", "#include \"b.hpp\"\nint x[TILE];\n");
  file_view files;
  const auto compiler =
      identify({bench.compiler, bench.folder.string(), bench.flags, bench.variables}, files,
               bench.runner, bench.memo, {});
  REQUIRE(compiler);
  const auto before = bench.runner.count();
  include_scanner scanner(*compiler, files, bench.runner, bench.memo, std::chrono::seconds(60));
  std::vector<std::jthread> threads;
  std::vector<std::string> identities(12);
  for (std::size_t i = 0; i < identities.size(); ++i)
    threads.emplace_back([&, i] {
      const std::vector<macro> macros = {{"TILE", std::to_string(i / 3 + 1)}};
      if (auto found = scanner.closure_of("k" + std::to_string(i % 3) + ".cpp", macros))
        identities[i] = (*found)->identity.hex();
    });
  threads.clear();
  CHECK(bench.runner.count() - before <= 6); // one scan a source, two if just written
  for (std::size_t i = 0; i < identities.size(); ++i) {
    CHECK_FALSE(identities[i].empty());
    CHECK(identities[i] == identities[i % 3]);
  }
}

} // namespace includes_test
