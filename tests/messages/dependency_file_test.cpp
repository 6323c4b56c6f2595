#include "messages/dependency_file.hpp"

#include <doctest/doctest.h>

namespace dependency_file_test {

using namespace hearth;

namespace {

using names = std::vector<std::string>;

names read(std::string_view text) {
  const auto all = read_dependencies(text);
  REQUIRE_MESSAGE(all, all.error().text());
  return *all;
}

} // namespace

TEST_CASE("the prerequisites of a rule over several lines") {
  CHECK(read("a.o: a.cpp \\\n  include/h.hpp \\\n /usr/include/x.h\n") ==
        names{"a.cpp", "include/h.hpp", "/usr/include/x.h"});
  CHECK(read("a.o : a.cpp\r\n") == names{"a.cpp"});
  CHECK(read("a.o: a.cpp \\\r\n b.h\r\n") == names{"a.cpp", "b.h"});
}

TEST_CASE("several targets, and rules without prerequisites as -MP writes them") {
  CHECK(read("a.o a.d: a.cpp h.hpp\n\nh.hpp:\n") == names{"a.cpp", "h.hpp"});
  CHECK(read("a.o: a\nb.o: a b\n") == names{"a", "b"});
  CHECK(read("a.o:\n").empty());
}

TEST_CASE("names with spaces, hashes, dollars and colons") {
  CHECK(read("a.o: my\\ file.h c\\#.h d$$.h c:/x.h e\\:f\n") ==
        names{"my file.h", "c#.h", "d$.h", "c:/x.h", "e:f"});
  CHECK(read("a.o: back\\slash\n") == names{"back\\slash"});
  CHECK(read("a\\:b.o c:/d.o: e: f\n") == names{"e:", "f"});
}

TEST_CASE("runs of backslashes are doubled before white space alone") {
  CHECK(read("a.o: b\\\\\\ s.hpp a\\\\ b tab\\\tx.hpp\n") ==
        names{"b\\ s.hpp", "a\\", "b", "tab\tx.hpp"});
  CHECK(read("a.o: g\\\\#h.hpp b\\\\c \\\n d\\\n e\n") == names{"g\\#h.hpp", "b\\\\c", "d", "e"});
}

TEST_CASE("an empty text names nothing and a text that is no rule is an error") {
  CHECK(read("").empty());
  CHECK(read("\n\n").empty());
  CHECK(read("a.o: b") == names{"b"});
  CHECK(read_dependencies("just words\n").error().code() == errc::malformed);
}

} // namespace dependency_file_test
