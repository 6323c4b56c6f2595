// What a compile may depend on besides the bytes of the files that it reads.
#include "runtime/actions/hidden_inputs.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace hidden_inputs_test {

using namespace hearth;
using namespace hearth::test;

TEST_CASE("hidden inputs: names of the clock, as identifiers of their own") {
  for (const std::string_view text :
       {"__DATE__", "__TIME__", "__TIMESTAMP__", "a\n(__DATE__)", "__TIME_ + __TIME__",
        "X__DATE__ __DATE__", "__DATE_____DATE__ __TIMESTAMP__"}) {
    CAPTURE(text);
    CHECK(uses_clock(text, false, false));
  }
  for (const std::string_view text :
       {"", "__DATE", "__TIME", "__TIME_", "__DATE__x", "x__DATE__", "__TIMESTAMP", "__TIMES__",
        "$__TIME__", "__TIME__0", "__TIMESTAMP__TIME__", "DATE__ TIME__ __TI ME__"}) {
    CAPTURE(text);
    CHECK_FALSE(uses_clock(text, false, false));
  }
}

TEST_CASE("hidden inputs: with the date from a variable, the time of the source file alone") {
  CHECK_FALSE(uses_clock("__DATE__ __TIME__", true, false));
  CHECK(uses_clock("__DATE__ __TIME__ __TIMESTAMP__", true, false));
}

TEST_CASE("hidden inputs: a name of the clock that goes on in the next line") {
  for (const std::string_view text :
       {"__DA\\\nTE__", "__DA\\\r\nTE__", "__DA?\?/\nTE__", "__DA?\?/\r\nTE__",
        "a \\\n b\n__TI\\\n\\\nME__", "__TI?\?/\n\\\nMESTAMP__", "?? \\ ?\?/\n__TI\\\nME__",
        "__DA\\ \nTE__", "__DA\\ \t\r\nTE__", "__DA?\?/ \nTE__"}) {
    CAPTURE(text);
    CHECK(uses_clock(text, false, false));
  }
  for (const std::string_view text :
       {"__DA\\ x\nTE__", "__DA\nTE__", "__DA?\?/TE__", "__DA \\\nTE__", "__DA\\\n TE__", "\\\n",
        "__DA\\", "__DA?\?/\n"}) {
    CAPTURE(text);
    CHECK_FALSE(uses_clock(text, false, false));
  }
}

TEST_CASE("hidden inputs: parts that ## could put together") {
  CHECK(uses_clock("__TI", false));
  CHECK(uses_clock("a ME__", false));
  CHECK_FALSE(uses_clock("__", false));
  CHECK_FALSE(uses_clock("__TIN ME", false));
  CHECK_FALSE(uses_clock("__TI", false, false));
}

namespace {

struct hidden_files {
  temporary_directory directory;

  std::string write(const std::string& name, std::string_view text) const {
    write_text(directory.path() / name, text);
    return (directory.path() / name).string();
  }
};

} // namespace

TEST_CASE_FIXTURE(hidden_files, "hidden inputs: of all files that are texts") {
  const auto plain = write("plain.h", "int a;\n");
  const auto clock = write("clock.h", "const char* b = __DATE__;\n");
  CHECK(hidden_input_of({plain}, false) == "");
  CHECK(hidden_input_of({plain, clock}, false).starts_with(clock + " may use the clock"));
  CHECK(hidden_input_of({plain, clock}, true) == "");
  const auto program = write("program", "\x7f"
                                        "ELF __DATE__");
  const auto archive = write("archive.a", "!<arch>\n__DATE__");
  const auto empty = write("empty.h", "");
  const auto missing = (directory.path() / "missing.h").string();
  CHECK(hidden_input_of({program, archive, empty, missing, directory.path().string()}, false) ==
        "");
}

TEST_CASE_FIXTURE(hidden_files, "hidden inputs: a name of the clock of three parts or more") {
  for (const std::string_view text :
       {"#define A(x) __##x##__\nA(TIME)", "#define A(x) _##x##_\nA(_TIME_)",
        "CAT(__, CAT(DATE, __))", "#define A(a, b) _%:%:a%:%:b\nA(_TIMESTAMP, __)"}) {
    CAPTURE(text);
    CHECK(hidden_input_of({write("a.c", text)}, false) != "");
  }
  const auto macro = write("m.h", "#define A(x) __ ## x ## __\n");
  const auto use = write("u.c", "#include \"m.h\"\nconst char* t = A(\\\nTIME);\n");
  CHECK(hidden_input_of({use, macro}, false) != "");
  CHECK(hidden_input_of({macro, use}, false) != "");
  CHECK(hidden_input_of({macro}, false) == "");
  CHECK(hidden_input_of({use}, false) == "");
  CHECK(hidden_input_of({use}, false, {"gcc", "-DA(x)=__##x##__"}) != "");
  for (const std::string_view text :
       {"int TIME, DATE; /* AMP */", "#define A(x) __##x##__\nA(time) A(CLOCK)",
        "_(\"TIME\"); f(a, ##__VA_ARGS__);", "#define A(x) a_##x\nA(TIME)"}) {
    CAPTURE(text);
    CHECK(hidden_input_of({write("b.c", text)}, false) == "");
  }
}

TEST_CASE_FIXTURE(hidden_files, "hidden inputs: what a precompiled header was made of") {
  using namespace std::string_view_literals;
  CHECK(hidden_input_of({write("a.h.gch", "gpch+013\0\1__DATE__"sv)}, false) == "");
  for (const auto text : {"gpch *t = __TIME__;"sv, "gpch+013 *t = __TIME__;"sv}) {
    CAPTURE(text);
    const auto header = write("g.h", text);
    CHECK(hidden_input_of({header}, false).starts_with(header + " may use the clock"));
  }
  const auto other = write("b.h.gch", "text");
  CHECK(hidden_input_of({other}, false) == other + " is precompiled");
  const auto clangs = write("c", "CPCH");
  CHECK(hidden_input_of({clangs}, false) == clangs + " is precompiled");
}

TEST_CASE_FIXTURE(hidden_files, "hidden inputs: two files of one content that are included once") {
  const auto one = write("one.h", "#pragma once\nint a;\n");
  const auto as_long = write("long.h", "#pragma once\nint b;\n");
  const auto same = write("same.h", "#pragma once\nint a;\n");
  CHECK(hidden_input_of({one, as_long}, false) == "");
  CHECK(hidden_input_of({one, as_long, same}, false) ==
        same + " has the content of " + one + " and is included once");
  // They are read as often as they are included.
  CHECK(hidden_input_of({write("x.h", "int x;\n"), write("y.h", "int x;\n")}, false) == "");
  const auto first = write("m.h", "#import <a>\n"), second = write("n.h", "#import <a>\n");
  CHECK(hidden_input_of({first, second}, false) ==
        second + " has the content of " + first + " and is included once");
  // The word for it goes on in the next line, or is in the file that includes them.
  const auto split = write("s.h", "#pragma on\\\nce\nint c;\n");
  const auto as_split = write("t.h", "#pragma on\\\nce\nint c;\n");
  CHECK(hidden_input_of({split, as_split}, false) ==
        as_split + " has the content of " + split + " and is included once");
  const auto plain = write("p.h", "int d;\n"), copy = write("q.h", "int d;\n");
  const auto importing = write("i.c", "#import \"p.h\"\n#import \"q.h\"\n");
  for (const auto& paths : {std::vector{importing, plain, copy}, {plain, copy, importing}}) {
    const auto why = hidden_input_of(paths, false);
    CHECK(why == copy + " has the content of " + plain + " and is included once");
  }
}

TEST_CASE_FIXTURE(hidden_files, "hidden inputs: the times of two files that a pragma compares") {
  for (const std::string_view text :
       {"#pragma GCC dependency \"x.y\"\n", "#pragma clang dependency \"x.y\" note\n",
        "_Pragma(\"GCC dependency \\\"x.y\\\"\")\n", "#pragma GCC /* a */ dependency <x>\n",
        "#pragma GCC \\\n dependency <x>\n", "#pragma GCC depend\\\nency <x>\n"}) {
    CAPTURE(text);
    const auto source = write("d.c", text);
    CHECK(hidden_input_of({source}, false) == source + " compares its time with another file's");
  }
  for (const std::string_view text :
       {"// a dependency of GCC\n", "#pragma GCC diagnostic push // dependency\n",
        "int GCC_dependency;\n"}) {
    CAPTURE(text);
    CHECK(hidden_input_of({write("e.c", text)}, false) == "");
  }
}

} // namespace hidden_inputs_test
