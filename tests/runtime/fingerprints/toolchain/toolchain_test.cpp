#include "runtime/fingerprints/toolchain/toolchain.hpp"

#include "tests/support/workbench.hpp"

#include <algorithm>

namespace toolchain_test {

using namespace hearth;
using namespace hearth::fingerprints;
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

TEST_CASE("queries to a compiler never ask for an object") {
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

TEST_CASE("a missing compiler is an error that names it") {
  workbench bench;
  bench.compiler = "no-such-compiler";
  REQUIRE_FALSE(bench.identify());
  CHECK(bench.identify().error().code() == errc::program_not_found);
  CHECK(bench.identify().error().text().find("no-such-compiler") != std::string::npos);
  for (const auto* name : {"./no-such-compiler", "/nowhere/g++"}) {
    bench.compiler = name;
    CHECK(bench.identify().error().code() == errc::program_not_found);
  }
  for (const auto* name : {".", "/dev/null"}) {
    bench.compiler = name;
    CHECK(bench.identify().error().code() == errc::program_refused);
  }
  bench.compiler = "";
  CHECK(bench.identify().error().code() == errc::invalid_argument);
  CHECK(bench.runner.count() == 0);
}

TEST_CASE("flags that change the kind of a run are refused") {
  for (const auto* flag : {"-o", "-oprog", "-c", "-S", "-E", "-MD", "-MMD", "-M", "-save-temps=obj",
                           "-", "-dumpmachine", "-print-search-dirs", "-fsyntax-only"}) {
    const std::vector<std::string> flags = {"-O2", flag};
    CAPTURE(flag);
    REQUIRE_FALSE(check_flags(flags));
    CHECK(check_flags(flags).error().code() == errc::invalid_argument);
  }
  for (const auto* flag : {"-fmodules-ts", "-wrapper"}) {
    const std::vector<std::string> flags = {flag};
    REQUIRE_FALSE(check_flags(flags));
    CHECK(check_flags(flags).error().code() == errc::unsupported);
  }
  const std::vector<std::string> good = {"-O3",     "-march=native", "-std=c++20", "-Iinclude",
                                         "-x",      "c++",           "-Wall",      "-fopenmp",
                                         "-shared", "-fPIC",         "-DX=1"};
  CHECK(check_flags(good));
}

TEST_CASE("the environment of compilers holds the documented variables and nothing else") {
  const std::vector<std::string> host = {
      "HOME=/root", "PATH=/bin",      "CPATH=a:b", "LC_ALL=de_DE",    "DEPENDENCIES_OUTPUT=x",
      "TMPDIR=/t",  "LD_RUN_PATH=/r", "CPATH=c",   "GCC_EXEC_PREFIX="};
  const auto kept = compiler_environment(host);
  CHECK(kept == std::vector<std::string>{"CPATH=c", "GCC_EXEC_PREFIX=", "LC_ALL=C", "PATH=/bin",
                                         "SOURCE_DATE_EPOCH=0", "TMPDIR=/t"});
  CHECK(keyed_variables(kept) ==
        std::vector<std::string>{"CPATH=c", "GCC_EXEC_PREFIX=", "SOURCE_DATE_EPOCH=0"});
  const std::vector<std::string> dated = {"SOURCE_DATE_EPOCH=12"};
  CHECK(keyed_variables(compiler_environment(dated)) == dated);
}

TEST_CASE("a wrapper is another compiler when it or the program that it starts changes") {
  workbench bench;
  bench.compiler = "./wrap";
  bench.write_program("wrap", "#!/bin/sh\nexec \"$(dirname \"$0\")\"/behind \"$@\"\n");
  bench.write_program("behind", "#!/bin/sh\nexec g++ \"$@\"\n");
  const auto first = bench.identify();
  REQUIRE(first);
  CHECK_FALSE(first->direct);
  CHECK(first->understood);
  CHECK(bench.identify()->identity == first->identity);

  bench.write_program("behind", "#!/bin/sh\nexec g++ -DEXTRA \"$@\"\n");
  const auto second = bench.identify();
  REQUIRE(second);
  CHECK(second->identity != first->identity);

  bench.write_program("wrap", "#!/bin/sh\nexec g++ -DEXTRA \"$@\"\n");
  CHECK(bench.identify()->identity != second->identity);
}

TEST_CASE("two checkouts with the same wrapper have one toolchain") {
  workbench one;
  workbench other;
  for (auto* bench : {&one, &other}) {
    bench->compiler = "tools/wrap";
    bench->write_program("tools/wrap", "#!/bin/sh\nexec g++ \"$@\"\n");
  }
  CHECK(one.identify()->identity == other.identify()->identity);
}

TEST_CASE("a program that explains nothing is identified by its content") {
  workbench bench;
  bench.compiler = "./strange";
  bench.write_program("strange", "#!/bin/sh\nexit 1\n");
  const auto first = bench.identify();
  REQUIRE(first);
  CHECK_FALSE(first->understood);
  CHECK_FALSE(first->direct);
  CHECK(first->version.empty());
  bench.write_program("strange", "#!/bin/sh\nexit 2\n");
  CHECK(bench.identify()->identity != first->identity);
}

TEST_CASE("files that flags name are part of the toolchain") {
  workbench bench;
  bench.write("map.txt", "{ global: *; };\n");
  bench.write("args", "-DX=1\n");
  bench.write("lib/libown.a", "!<arch>\n");
  bench.flags = {"-Wl,--version-script=map.txt", "@args", "-Llib", "-lown"};
  const auto first = bench.identify();
  REQUIRE(first);
  CHECK(has_role(*first, "flag -Wl,--version-script=map.txt"));
  CHECK(has_role(*first, "flag @args"));
  CHECK(has_role(*first, "flag -lown"));
  const std::pair<std::string, std::string> changes[] = {
      {"map.txt", "{ local: *; };\n"}, {"args", "-DX=2\n"}, {"lib/libown.a", "!<arch>\n\n"}};
  for (const auto& change : changes) {
    const auto before = bench.identify();
    bench.write(change.first, change.second);
    CHECK_MESSAGE(bench.identify()->identity != before->identity, change.first);
  }
}

TEST_CASE("a response file has one identity, however often the compiler is asked") {
  workbench bench;
  bench.write("args", "-DX=1\n");
  bench.flags = {"@args"};
  const auto first = bench.identify();
  REQUIRE(first);
  workbench other; // which remembers nothing
  other.write("args", "-DX=1\n");
  other.flags = {"@args"};
  CHECK(other.identify()->identity == first->identity);
  other.write("args", "-DX=2\n");
  CHECK(other.identify()->identity != first->identity);
}

TEST_CASE("damaged memo bytes are ignored") {
  workbench bench;
  const auto first = bench.identify();
  REQUIRE(first);
  const auto kept = bench.memo.entries;
  REQUIRE(kept.size() == 1);
  for (const std::size_t size : {0U, 1U, 100U, 5000U}) {
    bench.memo.entries.begin()->second.resize(size);
    const auto before = bench.runner.count();
    const auto again = bench.identify();
    REQUIRE(again);
    CHECK(bench.runner.count() > before);
    CHECK(again->identity == first->identity);
  }
}

TEST_CASE("a compiler that changed is asked again") {
  workbench bench;
  const auto first = bench.identify();
  REQUIRE(first);
  bench.flags.push_back("-O3");
  const auto before = bench.runner.count();
  REQUIRE(bench.identify());
  CHECK(bench.runner.count() > before);
  bench.variables = {"PATH=/usr/bin:/bin", "COMPILER_PATH=" + bench.folder.string()};
  bench.write_program("as", "#!/bin/sh\nexec /usr/bin/as \"$@\"\n");
  const auto other = bench.identify();
  REQUIRE(other);
  CHECK(other->identity != first->identity);
  bench.write_program("as", "#!/bin/sh\nexec /usr/bin/as -n \"$@\"\n");
  CHECK(bench.identify()->identity != other->identity);
}

TEST_CASE("clang++ is known by its driver and its libraries" *
          doctest::skip(!hearth::test::has_clang())) {
  workbench bench;
  bench.compiler = "clang++";
  const auto first = bench.identify();
  REQUIRE(first);
  CHECK(first->direct);
  CHECK(first->understood);
  CHECK(first->version.find("clang") != std::string::npos);
  CHECK_FALSE(has_role(*first, "cc1plus"));
  CHECK(has_role(*first, "ld"));
  const auto before = bench.runner.count();
  CHECK(bench.identify()->identity == first->identity);
  CHECK(bench.runner.count() == before);
  bench.compiler = "g++";
  CHECK(bench.identify()->identity != first->identity);
}

namespace {

// A resource folder as a package installs it: a header, and a runtime of sanitizers.
struct packaged_clang : workbench {
  packaged_clang() {
    compiler = "clang++";
    install("resources");
    use("resources");
  }
  void install(const std::string& name) const {
    write(name + "/include/stddef.h", "#define NULL 0\n");
    write(name + "/lib/linux/libclang_rt.asan.a", "runtime 1");
    write(name + "/share/asan_ignorelist.txt", "fun:f\n");
  }
  // By a link: so the folder's name, which is in the settings, is the same.
  void use(const std::string& name) {
    std::filesystem::remove(folder / "current");
    std::filesystem::create_directory_symlink(folder / name, folder / "current");
    flags = {"-resource-dir=" + (folder / "current").string()};
  }
  digest identity() {
    const auto found = identify();
    REQUIRE_MESSAGE(found, found.error().text());
    CHECK(has_role(*found, "resource folder"));
    return found->identity;
  }
};

} // namespace

TEST_CASE_FIXTURE(packaged_clang,
                  "every file of Clang's resource folder is a part of its identity" *
                      doctest::skip(!hearth::test::has_clang())) {
  const auto first = identity();
  CHECK(identity() == first);
  write("resources/lib/linux/libclang_rt.asan.a", "runtime 2");
  const auto upgraded = identity();
  CHECK(upgraded != first);
  write("resources/share/msan_ignorelist.txt", "fun:g\n");
  const auto grown = identity();
  CHECK(grown != upgraded);
  std::filesystem::rename(folder / "resources/share/msan_ignorelist.txt",
                          folder / "resources/share/tsan_ignorelist.txt");
  CHECK(identity() != grown);
  std::filesystem::remove(folder / "resources/share/tsan_ignorelist.txt");
  CHECK(identity() == upgraded);
}

TEST_CASE_FIXTURE(packaged_clang,
                  "the same package in other files with other times is one compiler" *
                      doctest::skip(!hearth::test::has_clang())) {
  const auto first = identity();
  install("again");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1000);
  std::filesystem::last_write_time(folder / "again/include/stddef.h", old);
  use("again");
  memo.entries.clear();
  CHECK(identity() == first);
}

} // namespace toolchain_test
