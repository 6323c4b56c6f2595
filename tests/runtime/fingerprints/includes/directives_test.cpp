#include "runtime/fingerprints/includes/directives.hpp"

#include <algorithm>
#include <doctest/doctest.h>

namespace directives_test {

using namespace hearth::fingerprints;

namespace {

bool asks_for(const source_text& text, const std::string& name, bool quoted) {
  return std::find(text.names.begin(), text.names.end(), include_name{name, quoted}) !=
         text.names.end();
}

bool depends(const std::vector<std::string>& texts, const std::vector<std::string>& macros) {
  std::vector<source_text> read;
  for (const auto& text : texts)
    read.push_back(read_source(text));
  std::vector<inspected_file> files;
  for (const auto& one : read)
    files.push_back({&one, true});
  return inclusion_depends_on(macros, files);
}

} // namespace

TEST_CASE("names are found in every spelling of an include") {
  for (const auto* text :
       {"#include \"a b.h\"", "  #  include \"a b.h\"", "#inc\\\nlude \"a b.h\"",
        "#include \\\n \"a b.h\"", "/* x */ # /* y */ include /* z */ \"a b.h\" // w",
        "/* x\n y */ #include \"a b.h\"", "%:include \"a b.h\"", "#include_next \"a b.h\"",
        "#import \"a b.h\"", "\xef\xbb\xbf#include \"a b.h\"", "#if 0\n#include \"a b.h\"\n#endif",
        "#include \\  \n\"a b.h\"", "#include\"a b.h\"\r\n", "# /*\n*/ include \"a b.h\""}) {
    CAPTURE(text);
    const auto read = read_source(text);
    CHECK(asks_for(read, "a b.h", true));
    CHECK_FALSE(read.opaque);
    CHECK_FALSE(read.includes_by_macro);
  }
}

TEST_CASE("angle brackets and quotes are distinguished") {
  const auto read = read_source("#include <x//y.h>\n#include \"x.h\"\n");
  CHECK(asks_for(read, "x//y.h", false));
  CHECK(asks_for(read, "x.h", true));
  CHECK(read.names.size() == 2);
}

TEST_CASE("what is asked for by has_include counts as a name") {
  const auto read =
      read_source("#if defined(__has_include) && __has_include(<a.h>) || \\\n"
                  " __has_include ( \"b.h\" ) && __has_include_next(<c.h>)\n#endif\n");
  CHECK(asks_for(read, "a.h", false));
  CHECK(asks_for(read, "b.h", true));
  CHECK(asks_for(read, "c.h", false));
  CHECK_FALSE(read.opaque);
}

TEST_CASE("text that may look for files without naming them is opaque") {
  for (const auto* text :
       {"#if __has_include(HEADER)\n#endif", "#define HAS(x) __has_include(x)",
        "#define HAS __has_include", "#define HAS __has_include(\"a.h\")", "#embed \"data\"",
        "asm(\".incbin \\\"data\\\"\");", "?\?=include <a.h>", "#include <a.h> ?\?/\n",
        "int a;\r#include <a.h>\r", "#define X R\"(\n)\" Y"}) {
    CAPTURE(text);
    CHECK(read_source(text).opaque);
  }
  CHECK_FALSE(read_source("#define HAS __has_include(<a.h>)").opaque);
  CHECK_FALSE(read_source("#ifdef __has_include\n#endif\r\n").opaque);
}

TEST_CASE("an include of a macro is recognised") {
  CHECK(read_source("#include HEADER\n").includes_by_macro);
  CHECK(read_source("#include STRING(a.h)\n").includes_by_macro);
}

TEST_CASE("directives in comments and raw strings are noticed") {
  CHECK(read_source("/*\n#if 1\n*/").nests_doubtfully);
  CHECK(read_source("auto s = R\"x(\n#endif\n)x\";").nests_doubtfully);
  CHECK(read_source("#define X \"/*\"\n/*\n #endif */").nests_doubtfully);
  for (const auto* text :
       {"// #if 1\n", "const char* s = \"/*\";\n#if 1\n#endif\n/* x */", "/* # heading */",
        "int a = 1'000; // '\n#if 1\n#endif\n/**/", "char c = '\"';\n#if 1\n#endif\n",
        "char c = '\\'';\n/* a */\n#if 1\n#endif\n"}) {
    CAPTURE(text);
    CHECK_FALSE(read_source(text).nests_doubtfully);
  }
}

TEST_CASE("macros that only choose code choose no files") {
  for (const auto* text :
       {"#include <a.h>\nint x[TILE];\n", "#ifndef TILE\n#define TILE 16\n#endif\n#include <a.h>\n",
        "#include <a.h>\n#if TILE == 16\nint a;\n#elif TILE == 32\nint b;\n#else\nint c;\n#endif\n",
        "#define BLOCK (TILE * 4)\n#if BLOCK > 32\n#define WIDE 1\n#endif\n#ifdef WIDE\nint a;\n"
        "#endif\n#include <a.h>\n",
        "#if TILE > 4\n#pragma GCC unroll 4\n#pragma omp simd\n#endif\n#include <a.h>\n",
        "#define CAT(a, b) a##b\n#include <a.h>\nint CAT(TI, LE);\n",
        "#define GLIBC_USE(F) __GLIBC_USE_##F\n#if GLIBC_USE(X)\n#include <a.h>\n#endif\n"
        "int x = TILE;\n",
        "// #if TILE\n#include <a.h>\n",
        "#if TILE_SIZE\n#include <a.h>\n#endif\nint t = TILE;\n"}) {
    CAPTURE(text);
    CHECK_FALSE(depends({text}, {"TILE"}));
  }
}

TEST_CASE("macros that may choose files are found") {
  for (const auto* text :
       {"#if TILE == 16\n#include <a.h>\n#endif\n", "#ifdef TILE\n#include <a.h>\n#endif\n",
        "#ifndef TILE\nint a;\n#else\n#include <a.h>\n#endif\n",
        "#if A\n#elif defined TILE\n#include <a.h>\n#endif\n", "#include TILE\n",
        "#define HEADER <TILE.h>\n#include HEADER\n",
        "#if TILE > 4\n#define WIDE\n#endif\n#if defined(WIDE)\n#include <a.h>\n#endif\n",
        "#if TILE > 4\n#undef WIDE\n#endif\n#ifdef WIDE\n#include <a.h>\n#endif\n",
        "#define CAT(a, b) a##b\n#if CAT(TI, LE) > 4\n#include <a.h>\n#endif\n",
        "#define TIED(b) TI ## b\n#if TIED(LE) > 4\n#include <a.h>\n#endif\n",
        "#if TILE > 4\n#pragma GCC target(\"avx2\")\n#endif\n#include <a.h>\n",
        "#if TILE > 4\n#pragma once\n#endif\n#include <a.h>\n",
        "#if __COUNTER__ > 3\n#include <a.h>\n#endif\n",
        "#if TI\\\nLE > 4\n#include <a.h>\n#endif\n",
        "#if /*\n*/ TILE > 4\n#include <a.h>\n#endif\n",
        "#if TILE > 4\n/*\n#endif\n*/\n#include <a.h>\n/*\n#if X\n*/\n#endif\n", "#if TILE > 4\n",
        "#if TILE\n#endif\n#endif\n",
        "#define P(x) _Pragma(#x)\n#if TILE\n#define T target(\"avx\")\n#endif\n#include "
        "<a.h>\n"}) {
    CAPTURE(text);
    CHECK(depends({text}, {"TILE"}));
  }
}

TEST_CASE("a macro is followed from one file into another") {
  const std::string config = "#if TILE > 4\n#define WIDE 1\n#endif\n";
  const std::string user = "#if WIDE\n#include <a.h>\n#endif\n";
  CHECK(depends({config, user}, {"TILE"}));
  CHECK(depends({user, config}, {"TILE"}));
  CHECK_FALSE(depends({config, user}, {"UNROLL"}));
  CHECK_FALSE(depends({config, user}, {}));
}

TEST_CASE("any bytes at all are read to their end") {
  constexpr std::string_view alphabet = "#\"'/*\\R(\n%:if<>def \xff_0";
  std::string bytes;
  for (std::size_t i = 0; i < 4096; ++i)
    bytes += alphabet[(i * i + i / 7) % alphabet.size()];
  for (std::size_t size = 0; size < bytes.size(); size += 37) {
    const auto text = bytes.substr(size) + "\n#include <last.h>\n";
    CHECK(asks_for(read_source(text), "last.h", false));
  }
}

} // namespace directives_test
