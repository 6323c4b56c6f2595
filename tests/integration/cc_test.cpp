// `hearth cc`: real compilers, whose results are those that they give without it. How many entries
// are stored shows what was compiled.
#include "tests/support/action_bench.hpp"

#include <cstdlib>

namespace cc_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct launcher : action_bench {
  launcher() {
    fs::copy_file(HEARTH_FRONT, alone);
    fs::create_symlink(HEARTH_FRONT, directory / "hearth-cc");
    ::setenv("HEARTH_STORE", store.c_str(), 1);
    write("a.c", "#include \"x.h\"\nint f(void) { return X; }\n");
    write("x.h", "#define X 1\n");
  }
  ~launcher() { ::unsetenv("HEARTH_STORE"); }

  program_result shell(const std::string& line) const {
    const auto out = logs / "cc.out";
    const auto err = logs / "cc.err";
    const auto all = "cd '" + folder.string() + "' && { " + line + "; } > '" + out.string() +
                     "' 2> '" + err.string() + "' < /dev/null";
    const int ended = std::system(all.c_str());
    return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended), file_text(out),
            file_text(err)};
  }
  program_result cc(const std::string& line) const { return shell(HEARTH_FRONT " cc " + line); }
  // Compiles plainly and through Hearth, twice: all the same, and found the second time.
  void check(const std::string& line, const words& outputs) {
    CAPTURE(line);
    const auto right = shell(line);
    words bytes;
    for (const auto& name : outputs) {
      bytes.push_back(text(name));
      fs::remove(folder / name);
    }
    const auto names = files();
    for (int i = 0; i < 2; ++i) {
      const auto before = entries();
      const auto given = cc(line);
      CHECK(given.status == right.status);
      CHECK(given.out == right.out);
      CHECK(given.err == right.err);
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        CHECK(text(outputs[k]) == bytes[k]);
        fs::remove(folder / outputs[k]);
      }
      CHECK(files() == names);
      if (i == 1) CHECK(entries() == before);
    }
  }
  // The number of entries that are stored: for each command a set of observations, and its results.
  std::size_t entries() const {
    if (!fs::exists(store)) return 0;
    return run_hearth({"list", "--store", store, "--cache", "results", "--json"}, logs)
        .json()
        .size();
  }

  fs::path alone = directory / "hearth";
};

} // namespace

TEST_CASE_FIXTURE(launcher, "cc: objects and dependency files are the compiler's own") {
  check("gcc -c a.c -o a.o", {"a.o"});
  check("gcc -O2 -g -c a.c", {"a.o"});
  check("gcc -c a.c -MD -o b.o", {"b.o", "b.d"});
  check("gcc -c a.c -MMD -MP -MF dep -MT target -o b.o", {"b.o", "dep"});
  check("gcc -S a.c", {"a.s"});
  check("gcc -Wall -c w.c", {"w.o"}); // no such file: the compiler says so
  write("w.c", "int g(void) { int unused; return 1; }\n");
  check("gcc -Wall -c w.c", {"w.o"});
  write("e.c", "int h(void) { return nothing; }\n");
  check("gcc -c e.c", {});
  write("p.cpp", "#include <vector>\nint n(std::vector<int>& v) { return v.back(); }\n");
  check("g++ -std=c++20 -O1 -c p.cpp", {"p.o"});
  write("flags", "-DX2=3 -O1\n");
  check("gcc @flags -c a.c", {"a.o"});
}

TEST_CASE_FIXTURE(launcher, "cc: what is not cached runs as it is") {
  REQUIRE(shell("gcc -c a.c -o a.o; echo 'int f(void);int main(void){return f();}' > m.c").status ==
          0);
  for (const auto* line :
       {"gcc m.c a.o -o m", "gcc -E a.c -o a.i", "gcc -M a.c", "gcc --version", "gcc -c a.c m.c",
        "gcc -save-temps -c a.c", "gcc -c nothing.c", "gcc", "nothing -c a.c",
        "gcc -c a.c -o missing/a.o", "gcc -c a.c -o /dev/null", "false -c a.c",
        "gcc --coverage -c a.c", "sh -c 'echo $0 $1; exit 5' -c"}) {
    CAPTURE(line);
    const auto right = shell(line);
    const auto given = cc(line);
    const bool is_missing = right.status == 127;
    CHECK(given.status == right.status);
    if (is_missing) continue;
    CHECK(given.out == right.out);
    CHECK(given.err == right.err);
  }
  CHECK(entries() == 0);
}

TEST_CASE_FIXTURE(launcher, "cc: never a wrong object") {
  const std::string line = "gcc -Ii1 -Ii2 -c a.c -o a.o";
  write("a.c", "#include <x.h>\nint f(void) { return X; }\n");
  fs::remove(folder / "x.h");
  write("i2/x.h", "#define X 1\n");
  fs::create_directory(folder / "i1");
  for (const auto* change : {"true", "echo '#define X 2' > i2/x.h", "echo '#define X 3' > i1/x.h",
                             "rm i1/x.h", "echo 'int f(void) { return 9; }' > a.c", "touch a.c",
                             "mkdir -p i3; echo '#define X 5' > i3/x.h"}) {
    CAPTURE(change);
    REQUIRE(shell(change).status == 0);
    check(line, {"a.o"});
  }
  // Variables.
  write("a.c", "#include <x.h>\nint f(void) { return X; }\n");
  check("env CPATH=i3 gcc -c a.c", {"a.o"});
  REQUIRE(::setenv("CPATH", "i3", 1) == 0);
  check("gcc -c a.c", {"a.o"});
  REQUIRE(::setenv("CPATH", "i2", 1) == 0);
  check("gcc -c a.c", {"a.o"});
  ::unsetenv("CPATH");
  // The date and the time.
  write("t.c", "const char* t = __TIME__ __DATE__;\n");
  const auto before = entries();
  CHECK(cc("gcc -c t.c").status == 0);
  CHECK(entries() == before);
  REQUIRE(::setenv("SOURCE_DATE_EPOCH", "1000000000", 1) == 0);
  check("gcc -c t.c", {"t.o"});
  CHECK(entries() == before + 2);
  ::unsetenv("SOURCE_DATE_EPOCH");
}

TEST_CASE_FIXTURE(launcher, "cc: the folder's name in debug information") {
  check("gcc -g -Ii2 -c a.c", {"a.o"});
  fs::rename(folder, directory / "moved");
  folder = directory / "moved";
  check("gcc -g -Ii2 -c a.c", {"a.o"});
  check("gcc -Ii2 -c a.c", {"a.o"});
  const auto before = entries();
  fs::rename(folder, directory / "again");
  folder = directory / "again";
  check("gcc -Ii2 -c a.c", {"a.o"}); // without it, another checkout shares the object
  CHECK(entries() == before);
}

TEST_CASE_FIXTURE(launcher, "cc: without a usable store the compiler runs") {
  for (const auto* place : {"/dev/null/none", "/proc/none"}) {
    REQUIRE(::setenv("HEARTH_STORE", place, 1) == 0);
    CHECK(cc("gcc -c a.c -o a.o").status == 0);
    CHECK(fs::exists(folder / "a.o"));
    fs::remove(folder / "a.o");
  }
  // Nor is the other program needed.
  CHECK(shell("'" + alone.string() + "' cc gcc -c a.c -o a.o").status == 0);
  CHECK(fs::exists(folder / "a.o"));
}

TEST_CASE_FIXTURE(launcher, "cc: under its own name, in a build by make") {
  write("Makefile", "all: a.o b.o\n%.o: %.c\n\t$(CC) -O1 -MD -c $< -o $@\n-include a.d b.d\n");
  write("b.c", "int b;\n");
  const auto make = "make -s -j2 CC='" + (directory / "hearth-cc").string() + " gcc'";
  REQUIRE(shell(make).status == 0);
  const auto object = text("a.o");
  CHECK(entries() == 4);
  REQUIRE(shell("rm *.o *.d; " + make).status == 0);
  CHECK(text("a.o") == object);
  CHECK(entries() == 4);
  write("x.h", "#define X 2\n");
  REQUIRE(shell("touch -d '-9 seconds' *.o; " + make).status == 0);
  CHECK(text("a.o") != object);
  CHECK(entries() == 5); // one more result of one of them
}

} // namespace cc_test
