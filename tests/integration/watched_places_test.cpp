// Parts of watched runs that no other test misses when they are taken out: which words of a compile
// make its folder's name count, what --strict tells, and what a compile may change.
#include "tests/support/launcher_bench.hpp"

#include <cstdlib>

namespace watched_places_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct places_bench : action_bench {
  void script(const std::string& text) const {
    const auto command = "cd '" + folder.string() + "' && { " + text + "; }";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  // Compiles in two folders, and compares each with what the compiler makes there alone.
  void check_both(const std::string& set_up, const words& compile) {
    std::string line;
    for (const auto& word : compile)
      line += (line.empty() ? "" : " ") + word;
    CAPTURE(line);
    for (const auto* name : {"checkout1", "checkout2"}) {
      folder = directory / name;
      fs::create_directories(folder);
      write("a.c", "int f(void) { return 1; }\n");
      script(set_up);
      script(line);
      const auto right = text("a.o");
      fs::remove(folder / "a.o");
      check_quiet(run({"--out", "a.o"}, compile));
      CHECK(text("a.o") == right);
    }
  }
};

} // namespace

TEST_CASE_FIXTURE(places_bench, "watched: a source of the assembler tells its folder's name") {
  check_both("printf '.file 1 \"f.c\"\\n.text\\nf:\\n.loc 1 1\\nnop\\n' > s.s",
             {"gcc", "-c", "s.s", "-o", "a.o"});
}

TEST_CASE_FIXTURE(places_bench, "watched: words for the assembler tell a folder's name") {
  check_both("true", {"gcc", "-pipe", "-Wa,-g", "-c", "a.c", "-o", "a.o"});
}

TEST_CASE_FIXTURE(places_bench, "watched: a response file tells a folder's name") {
  check_both("echo '-g' > r", {"gcc", "@r", "-c", "a.c", "-o", "a.o"});
}

TEST_CASE_FIXTURE(places_bench, "watched: strict tells nothing of what the command made itself") {
  write("made", "by an earlier run\n");
  check_quiet(run({"--strict", "--out", "o"}, {"sh", "-c", "echo 1 > made; cat made > o"}));
  CHECK(text("o") == "1\n");
}

TEST_CASE_FIXTURE(launcher_bench,
                  "cc: a compile that makes a folder that nobody knows runs as it is") {
  const auto wrapper = (directory / "bin").string() + "/gcc";
  fs::create_directory(directory / "bin");
  write("w.c", "#include <string.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
               "int main(int n, char** all) {\n  for (int i = 1; i < n; ++i)\n"
               "    if (strcmp(all[i], \"--coverage\") == 0) mkdir(\"more\", 0777);\n"
               "  all[0] = \"gcc\";\n  return execvp(\"/usr/bin/gcc\", all);\n}\n");
  REQUIRE(shell("gcc w.c -o '" + wrapper + "'").status == 0);
  for (int i = 0; i < 2; ++i) {
    fs::remove(folder / "more");
    CHECK(cc("'" + wrapper + "' --coverage -c a.c -o a.o").status == 0);
    CHECK(fs::is_directory(folder / "more"));
  }
  CHECK(entries() == 0);
}

} // namespace watched_places_test
