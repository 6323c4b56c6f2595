#include "tests/runtime/launcher/command_text.hpp"

#include <map>

namespace response_file_test {

using namespace hearth::launcher;
using hearth::test::command_words;

namespace {

struct response_files {
  std::map<std::string, std::string> texts;

  tl::expected<command_words, refusal> expand(command_words arguments) const {
    return expand_response_files(std::move(arguments), [&](const std::string& path) {
      const auto at = texts.find(path);
      return at == texts.end() ? std::nullopt : std::optional(at->second);
    });
  }
  std::string refused(command_words arguments) const {
    const auto all = expand(std::move(arguments));
    REQUIRE(!all);
    CHECK(all.error().why == uncached::bad_response_file);
    return all.error().argument;
  }
};

} // namespace

TEST_CASE("white space separates the arguments of a response file, quotes and backslashes do not") {
  CHECK(split_response("") == command_words{});
  CHECK(split_response(" \t\r\n") == command_words{});
  CHECK(split_response("-c  a.c\n-o\ta.o\r\n") == command_words{"-c", "a.c", "-o", "a.o"});
  CHECK(split_response(R"('a b.c' "c d" e\ f)") == command_words{"a b.c", "c d", "e f"});
  CHECK(split_response(R"(-DX=\"y\" -DY='"z"' "-DZ=\"\\")") ==
        command_words{"-DX=\"y\"", "-DY=\"z\"", "-DZ=\"\\"});
  CHECK(split_response(R"(-I"a b"/c'd e'f "")") == std::nullopt);
  CHECK(split_response(R"(-I"a b"/c'd e'f"")") == command_words{"-Ia b/cd ef"});
}

TEST_CASE("a response file that compilers read differently is refused") {
  using namespace std::literals;
  for (const auto text : {"a\\"sv, "a\\\nb"sv, "a\\\r\nb"sv, "'a\\b'"sv, "\"a\\nb\""sv,
                          "\"a\\\nb\""sv, "'a"sv, "\"a"sv, "''"sv, "a \"\" b"sv, "a\fb"sv, "a\vb"sv,
                          "a\0b"sv, "\xef\xbb\xbf-c"sv, "\xff\xfe-\0c\0"sv}) {
    CAPTURE(text);
    CHECK(!split_response(text));
  }
}

TEST_CASE("response files are expanded wherever they stand, and inside each other") {
  const response_files files{
      {{"a", "-c @b"}, {"b", "x.c '-o' x.o"}, {"empty", ""}, {"dir/c", "-g"}}};
  CHECK(files.expand({"gcc", "@a", "-g"}) == command_words{"gcc", "-c", "x.c", "-o", "x.o", "-g"});
  CHECK(files.expand({"gcc", "@empty", "x.c"}) == command_words{"gcc", "x.c"});
  CHECK(files.expand({"gcc", "-D", "@dir/c"}) == command_words{"gcc", "-D", "-g"});
  CHECK(files.expand({"gcc", "a@b"}) == command_words{"gcc", "a@b"});
}

TEST_CASE("a response file that is missing, endless or too large is refused") {
  response_files files{
      {{"self", "-c @self"}, {"to_missing", "@missing"}, {"to_odd", "@odd"}, {"odd", "'"}}};
  CHECK(files.refused({"gcc", "@missing"}) == "@missing");
  CHECK(files.refused({"gcc", "@"}) == "@");
  CHECK(files.refused({"gcc", "@self"}) == "@self");
  CHECK(files.refused({"gcc", "@to_missing"}) == "@missing");
  CHECK(files.refused({"gcc", "@to_odd"}) == "@odd");
  files.texts["long"] = std::string(max_argument_bytes + 1, 'a');
  CHECK(files.refused({"gcc", "@long"}) == "@long");
  files.texts["half"] = std::string(max_response_bytes / 2 + 1, ' ');
  CHECK(files.expand({"gcc", "@half"}) == command_words{"gcc"});
  CHECK(files.refused({"gcc", "@half", "@half"}) == "@half");
}

TEST_CASE("outputs and sources may be named in a response file") {
  const auto read = [](const std::string&) { return std::optional<std::string>("x.c -o 'a b.o'"); };
  const auto command = read_compile_command({"gcc", "-c", "@rsp"}, read);
  REQUIRE(command);
  CHECK(command->source == "x.c");
  CHECK(command->outputs.front().path == "a b.o");
  CHECK(command->arguments == command_words{"-c", "x.c", "-o", "a b.o"});
}

} // namespace response_file_test
