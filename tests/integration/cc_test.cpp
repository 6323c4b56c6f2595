// `hearth cc`: real compilers, whose results are those that they give without it. How many entries
// are stored shows what was compiled.
#include "tests/support/launcher_bench.hpp"

#include <cstdlib>

namespace cc_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

using launcher = launcher_bench;

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
  write("s.c", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n"
               "#include <sys/stat.h>\n#include <unistd.h>\nint s(void) { return puts(\"s\"); }\n");
  const auto before = entries();
  check("gcc -c s.c", {"s.o"});
  CHECK(entries() == before + 2);
  write("flags", "-DX2=3 -O1\n");
  check("gcc @flags -c a.c", {"a.o"});
  // A header that is read once, and named in two ways.
  write("m/once.h", "#pragma once\nstruct once;\n");
  write("s/once.c", "#include \"m/once.h\"\n");
  write("once.c", "#include \"m/once.h\"\n");
  const auto kept = entries();
  check("clang -c once.c", {"once.o"});
  check("gcc -I" + folder.string() + " -c s/once.c", {"once.o"});
  CHECK(entries() == kept + 4);
}

TEST_CASE_FIXTURE(launcher, "cc: what is not cached runs as it is") {
  REQUIRE(shell("gcc -c a.c -o a.o; echo 'int f(void);int main(void){return f();}' > m.c").status ==
          0);
  for (const auto* line :
       {"gcc m.c a.o -o m", "gcc -E a.c -o a.i", "gcc -M a.c", "gcc --version", "gcc -c a.c m.c",
        "gcc -save-temps -c a.c", "gcc -MD -MF /dev/stdout -c a.c", "gcc -c nothing.c", "gcc",
        "nothing -c a.c", "gcc -c a.c -o missing/a.o", "gcc -c a.c -o /dev/null", "false -c a.c",
        "gcc -fplugin=none -c a.c", "gcc --coverage -c a.c -o ../a.o",
        "sh -c 'echo $0 $1; exit 5' -c"}) {
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

TEST_CASE_FIXTURE(launcher, "cc: what more than the bytes of files decides is not kept") {
  write("h.h", "int h;\n");
  const std::string dates = "#define C(a, b) a##b\n#define D(a, b) C(a, b)\n";
  write("t1.c", "const char* t = __TIME__;\n");
  write("t2.c", dates + "const char* t = D(__TI, ME__);\n");
  write("t3.c", "const char* t = __TI\\\nME__;\n");
  write("t4.c", "const char* t = STAMP;\n");
  write("t5.c", "const char* t = __TIMESTAMP__;\n");
  const auto none = entries();
  for (const auto* line : {"gcc -c t1.c", "gcc -c t2.c", "gcc -c t3.c",
                           "gcc -DSTAMP=__TIME__ -c t4.c", "SOURCE_DATE_EPOCH=1 gcc -c t5.c"}) {
    CAPTURE(std::string(line));
    CHECK(shell(std::string(line).starts_with("S") ? "SOURCE_DATE_EPOCH=1 " HEARTH_FRONT
                                                     " cc gcc -c t5.c"
                                                   : HEARTH_FRONT " cc " + std::string(line))
              .status == 0);
    CHECK(entries() == none);
  }
  // Which of two equal files are one.
  write("h1.h", "#pragma once\n#ifdef A\n#define B\n#endif\n#define A\n");
  fs::create_hard_link(folder / "h1.h", folder / "h2.h");
  write("o.c",
        "#include \"h1.h\"\n#include \"h2.h\"\n#ifdef B\nint two;\n#else\nint one;\n#endif\n");
  check("gcc -c o.c", {"o.o"});
  REQUIRE(shell("rm h2.h; cp h1.h h2.h; touch -d 2001-01-01 h2.h").status == 0);
  check("gcc -c o.c", {"o.o"});
  CHECK(entries() == none);
  if (shell("clang --version").status == 0) { // it knows no SOURCE_DATE_EPOCH before version 16
    CHECK(shell("SOURCE_DATE_EPOCH=1 " HEARTH_FRONT " cc clang -c t1.c").status == 0);
    CHECK(entries() == none);
  }
}

TEST_CASE_FIXTURE(launcher, "cc: streams and descriptors of the caller") {
  const auto symbols = [&](const std::string& line) {
    REQUIRE(shell(line).status == 0);
    return shell("nm a.o").out;
  };
  for (const std::string line :
       {"gcc -x c /dev/stdin -c -o a.o < x.c", "gcc -include /dev/fd/3 -c e.c -o a.o 3< x.c",
        "gcc -x c -c /proc/self/fd/0 -o a.o < x.c",
        "ln -sf /dev/stdin l.c; ln -sf l.c ll.c; gcc -c ll.c -o a.o < x.c"}) {
    CAPTURE(line);
    write("x.c", "int from_stream;\n");
    write("e.c", "int e;\n");
    const auto right = symbols(line);
    fs::remove(folder / "a.o");
    auto cached = line;
    CHECK(symbols(cached.insert(cached.find("gcc"), HEARTH_FRONT " cc ")) == right);
  }
  write("w.c", "int g(void) { int unused; return 1; }\n");
  for (int i = 0; i < 2; ++i)
    CHECK(shell(HEARTH_FRONT " cc gcc -Wall -c w.c 2> /dev/full").status == 0);
}

TEST_CASE_FIXTURE(launcher, "cc: a failure leaves what the compiler leaves") {
  write("e.c", "int h(void) { return nothing; }\n");
  for (const std::string line : {"gcc -S e.c", "gcc -MD -c e.c", "gcc -c e.c"}) {
    CAPTURE(line);
    const auto left_by = [&](const std::string& command) {
      for (const auto* name : {"e.s", "e.o", "e.d"})
        write(name, "old");
      CHECK(shell(command).status == 1);
      return std::vector{text("e.s"), text("e.o"), text("e.d"), std::to_string(files().size())};
    };
    CHECK(left_by(line) == left_by(HEARTH_FRONT " cc " + line));
  }
}

TEST_CASE_FIXTURE(launcher, "cc: files that are there keep their rights and names") {
  write("b.c", "int b;\n");
  for (int i = 0; i < 2; ++i) {
    write("b.s", "old");
    fs::permissions(folder / "b.s", fs::perms(0600));
    REQUIRE(cc("gcc -S b.c").status == 0);
    CHECK(fs::status(folder / "b.s").permissions() == fs::perms(0600));
    fs::remove(folder / "b.s");
    write("b.s", "old");
    fs::remove(folder / "other");
    fs::create_hard_link(folder / "b.s", folder / "other");
    REQUIRE(cc("gcc -S b.c").status == 0);
    CHECK(text("other") == text("b.s"));
    fs::remove(folder / "b.s");
  }
}

TEST_CASE_FIXTURE(launcher, "cc: an assembler's source may tell its folder") {
  const auto first = folder;
  for (const auto* name : {"one", "another"}) {
    folder = directory / name;
    fs::create_directory(folder);
    write("a.s", ".file 1 \"foo.c\"\n.text\nf:\n.loc 1 1\nnop\n");
    check("gcc -c a.s -o a.o", {"a.o"});
  }
  folder = first;
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

TEST_CASE_FIXTURE(launcher, "cc: wrong settings are no reason not to compile") {
  for (const auto* setting : {"HEARTH_CONFIG=/nonexistent", "HEARTH_REMOTE=http://127.0.0.1:1",
                              "HEARTH_JOBS=x", "HEARTH_STORE= HOME= XDG_CACHE_HOME="}) {
    CAPTURE(std::string(setting));
    fs::remove(folder / "a.o");
    CHECK(shell(std::string("env ") + setting + " " HEARTH_FRONT " cc gcc -c a.c").status == 0);
    CHECK(fs::exists(folder / "a.o"));
  }
  CHECK(shell("'" + (directory / "hearth-cc").string() + "' --version").out.starts_with("hearth "));
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

TEST_CASE_FIXTURE(launcher, "cc: what clang reads from variables for other targets counts") {
  write("one/w.h", "#define W 1\n");
  write("two/w.h", "#define W 2\n");
  write("q.mm", "#include <w.h>\nint w = W;\n");
  write("t.c", "int t;\n");
  struct trial {
    std::string variable, first, second, command;
  };
  for (const auto& one :
       {trial{"OBJCPLUS_INCLUDE_PATH", "one", "two", "clang++ -c q.mm"},
        // The objects have no time of their own then.
        trial{"INCLUDE", "one", "two",
              "clang++ --target=x86_64-pc-windows-msvc -mno-incremental-linker-compatible -c -xc++ "
              "q.mm"},
        trial{"MACOSX_DEPLOYMENT_TARGET", "10.9", "11.0",
              "clang --target=x86_64-apple-darwin -c t.c"}}) {
    CAPTURE(one.variable);
    for (const auto& value : {one.first, one.second, one.first}) {
      const auto setting = one.variable + "=" + value + " ";
      REQUIRE(shell(setting + one.command + " -o plain.o").status == 0);
      REQUIRE(shell(setting + HEARTH_FRONT " cc " + one.command + " -o ours.o").status == 0);
      CHECK(text("ours.o") == text("plain.o"));
    }
  }
}

TEST_CASE_FIXTURE(launcher, "cc: a time that a macro puts together is that of the compile") {
  write("m.h", "#define NAME(x) __##x##__\n");
  write("d.c", "#include \"m.h\"\nconst char* d = NAME(TIMESTAMP);\n");
  const auto before = entries();
  REQUIRE(cc("gcc -c d.c").status == 0);
  CHECK(entries() == before);
}

TEST_CASE_FIXTURE(launcher,
                  "cc: under a compiler's name, it is the launcher of the next one in PATH") {
  fs::create_directory(directory / "links");
  for (const auto* name : {"gcc", "g++", "cc", "x86_64-linux-gnu-gcc-12", "clang"})
    fs::create_symlink(HEARTH_FRONT, directory / "links" / name);
  const auto path = "PATH='" + (directory / "links").string() + "':$PATH ";
  REQUIRE(shell(path + "gcc -c a.c -o a.o").status == 0);
  const auto object = text("a.o");
  CHECK(entries() == 2);
  REQUIRE(shell("rm a.o; " + path + "gcc -c a.c -o a.o").status == 0);
  CHECK(text("a.o") == object);
  CHECK(entries() == 2);
  REQUIRE(shell("gcc -c a.c -o a.o").status == 0);
  CHECK(text("a.o") == object);
  for (const auto* name : {"cc", "x86_64-linux-gnu-gcc-12", "clang"}) {
    CAPTURE(name);
    const auto before = entries();
    REQUIRE(shell(path + name + " -O1 -c a.c -o b.o").status == 0);
    CHECK(entries() == before + 2);
    REQUIRE(shell(std::string(name) + " -O1 -c a.c -o c.o; cmp b.o c.o").status == 0);
  }
  // What is not cached, and what the compiler prints.
  CHECK(shell(path + "gcc --version").out == shell("gcc --version").out);
  // Both ways at once: the launcher starts the compiler, and not itself.
  const auto before = entries();
  CHECK(shell(path + "timeout 50 " HEARTH_FRONT " cc gcc -O2 -c a.c").status == 0);
  CHECK(entries() == before + 2);
  // Switched off.
  CHECK(shell("HEARTH_DISABLE=1 " + path + "gcc -O3 -c a.c").status == 0);
  CHECK(shell("HEARTH_DISABLE=1 " HEARTH_FRONT " cc gcc -O3 -c a.c").status == 0);
  CHECK(entries() == before + 2);
  // Another launcher, which starts the first compiler in PATH beside itself; and another Hearth.
  const auto others = directory / "others";
  fs::create_directories(others / "hearth");
  fs::create_directories(others / "wrapper");
  fs::copy_file(HEARTH_FRONT, others / "hearth/gcc");
  write_text(others / "wrapper/gcc", "#!/bin/sh\n"
                                     "own=$(dirname \"$0\")\n"
                                     "for folder in $(echo \"$PATH\" | tr : ' '); do\n"
                                     "  [ \"$folder\" = \"$own\" ] || [ ! -x $folder/gcc ] ||\n"
                                     "    exec $folder/gcc \"$@\"\n"
                                     "done\n");
  fs::permissions(others / "wrapper/gcc", fs::perms::owner_all);
  const auto links = (directory / "links").string(), first = (others / "hearth").string(),
             second = (others / "wrapper").string();
  for (const auto& folders :
       {links + ":" + second, second + ":" + links, links + ":" + first, first + ":" + links,
        links + ":" + second + ":" + first, first + ":" + links + ":" + second})
    for (const auto* setting : {"", "HEARTH_DISABLE=1 "}) {
      CAPTURE(folders);
      CAPTURE(setting);
      fs::remove(directory / "a.o");
      const auto ended =
          shell(setting + ("PATH='" + folders) + "':\"$PATH\" timeout 50 gcc -c a.c");
      REQUIRE_MESSAGE(ended.status == 0, ended.err);
      CHECK(text("a.o") == object);
    }
  // Nothing behind it.
  const auto none = shell("PATH='" + (directory / "links").string() + "' gcc -c a.c");
  CHECK(none.status == 127);
  CHECK(none.err.find("no other program of this name is in PATH") != std::string::npos);
}

} // namespace cc_test
