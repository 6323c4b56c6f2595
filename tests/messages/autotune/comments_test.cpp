#include "messages/autotune/comments.hpp"

#include <doctest/doctest.h>

namespace comments_test {

using namespace hearth;

namespace {

std::string python(std::string_view code) { return strip_comments(code, comment_syntax::hash); }
std::string cpp(std::string_view code) { return strip_comments(code, comment_syntax::slashes); }

} // namespace

TEST_CASE("a hash begins a comment that ends with its line") {
  CHECK(python("a = 1  # one\nb = 2\n# all\n#") == "a = 1  \nb = 2\n\n");
  CHECK(python("no comment") == "no comment");
  CHECK(python("") == "");
}

TEST_CASE("a hash in a string begins no comment") {
  CHECK(python("a = '#1' # x") == "a = '#1' ");
  CHECK(python(R"(a = "\"#" # x)") == R"(a = "\"#" )");
  CHECK(python("a = '''# 'no\n # ''' # x\n") == "a = '''# 'no\n # ''' \n");
  CHECK(python("a = \"\"\"#\"\"\"# x") == "a = \"\"\"#\"\"\"");
  CHECK(python("a = 'open # in\nb # x") == "a = 'open # in\nb ");
  CHECK(python("a = 'cut \\") == "a = 'cut \\");
}

TEST_CASE("two slashes begin a comment that ends with its line, unless a backslash goes on") {
  CHECK(cpp("int a; // one\nint b;") == "int a; \nint b;");
  CHECK(cpp("// one \\\n still one\nint b;") == "\nint b;");
  CHECK(cpp("a / b; # define x // y") == "a / b; # define x ");
}

TEST_CASE("a block comment becomes a space, so that no two words become one") {
  CHECK(cpp("int/* a\n b */x; /**/ /* open") == "int x;    ");
  CHECK(cpp("a /* // */ b // /* c\nd */") == "a   b \nd */");
}

TEST_CASE("slashes in strings and characters begin no comment") {
  CHECK(cpp(R"(p = "//x"; // y)") == R"(p = "//x"; )");
  CHECK(cpp(R"(p = "a\"//x"; /*y*/)") == R"(p = "a\"//x";  )");
  CHECK(cpp(R"(c = '"'; // y)") == R"(c = '"'; )");
  CHECK(cpp(R"(c = L'/'; d = '\''; // y)") == R"(c = L'/'; d = '\''; )");
  CHECK(cpp("n = 1'000'000; // y") == "n = 1'000'000; ");
}

TEST_CASE("raw strings end with their delimiter alone") {
  CHECK(cpp("p = R\"x(// \" )\" )x\"; // y") == "p = R\"x(// \" )\" )x\"; ");
  CHECK(cpp("p = u8R\"(/* \n)\"; // y") == "p = u8R\"(/* \n)\"; ");
  CHECK(cpp("p = VAR\"(\"; // y") == "p = VAR\"(\"; ");
  CHECK(cpp("p = R\"(open // y") == "p = R\"(open // y");
}

TEST_CASE("comments are removed by language, and an unknown language has none") {
  CHECK(comment_syntax_of("python") == comment_syntax::hash);
  CHECK(comment_syntax_of(".toml") == comment_syntax::hash);
  CHECK(comment_syntax_of("cuda") == comment_syntax::slashes);
  CHECK(comment_syntax_of(".cpp") == comment_syntax::slashes);
  CHECK(comment_syntax_of("brainfuck") == comment_syntax::none);
  CHECK(strip_comments("# // a", comment_syntax::none) == "# // a");
}

TEST_CASE("the hash changes with the code and not with its comments") {
  const auto hash = [](std::string_view code) {
    return comment_stripped_hash(code, comment_syntax::hash);
  };
  CHECK(hash("x = 1 # run 1\n") == hash("x = 1 # run 22\n"));
  CHECK(hash("x = 1 # run 1\n") != hash("x = 2 # run 1\n"));
  CHECK(hash("x = '# 1'\n") != hash("x = '# 2'\n"));
  CHECK(hash("x").size() == 52);
}

TEST_CASE("normal code is the same whatever comments and blanks it has") {
  const auto normal = [](std::string_view code) {
    return normal_code(code, comment_syntax::slashes);
  };
  const auto code = normal("#define A 1\nint f(int x) { return x; }\n");
  CHECK(code == "#define A 1\nint f(int x) { return x; }");
  CHECK(normal("// about\n\n#define A 1  // one\n\n\tint  f(int /* y */ x) { return x; }") == code);
  CHECK(normal("\n#define A \\\n  1\r\nint f(int x)\t{ return x; }\n\n") == code);
  CHECK(normal("#define A 1 int f(int x) { return x; }") != code);
  CHECK(normal("#define A\n1\nint f(int x) { return x; }") != code);
  CHECK(normal("#define A \\\n\n1\nint f(int x) { return x; }") != code); // A is empty
  CHECK(normal("s = \"a  b // c\";") == "s = \"a  b // c\";");
  CHECK(normal("s = \"a  b\";") != normal("s = \"a b\";"));
  CHECK(normal("s = R\"(a\n\n b)\";") == "s = R\"(a\n\n b)\";");
  CHECK(normal("a/**/b") == "a b");
  CHECK(normal(" // nothing\n").empty());
  CHECK(normal_code("if x:  # y\n    z", comment_syntax::hash) == "if x:  \n    z");
}

} // namespace comments_test
