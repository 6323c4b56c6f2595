// Random projects under random changes: after each change every command gives what it gives without
// Hearth. Headers come and go in folders of the search path, links are turned, libraries, linker
// scripts, response files and files that the assembler includes change.
//
// HEARTH_RANDOM_CHANGES=5000 is the long form.
#include "tests/support/action_bench.hpp"
#include "tests/support/sanitized.hpp"

#include <cstdlib>
#include <random>

namespace random_builds_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct build_command {
  std::string shell; ///< OUT stands for the output
  std::string last_truth{};
};

struct random_project : action_bench {
  random_project() {
    for (const auto* name : {"i1", "i2", "l1", "l2", "data"})
      fs::create_directory(folder / name);
    write("a.c", "#include \"h0.h\"\n"
                 "#if __has_include(\"h1.h\")\n#include \"h1.h\"\n#endif\n"
                 "#if __has_include(\"h2.h\")\n#include \"h2.h\"\n#endif\n"
                 "int a() { return 0; }\n");
    write("s.c", "asm(\".include \\\"s.inc\\\"\");\n");
    write("m.c", "int v(); int main() { return v(); }\n");
    fs::create_symlink("i1", folder / "turned");
    write("i2/h0.h", "int h0;\n");
    write("s.inc", ".long 1\n");
    write("r", "-Ll1 -Ll2 -lv\n");
    shell("gcc -c m.c -o m.o");
    library("l2", 1);
  }

  void shell(const std::string& command) const {
    REQUIRE(std::system(("cd '" + folder.string() + "' && " + command).c_str()) == 0);
  }
  void library(const std::string& where, unsigned version) const {
    write("v.c", "int v() { return " + std::to_string(version) + "; }\n");
    shell("gcc -c v.c -o v.o && rm -f " + where + "/libv.a && ar rcsD " + where + "/libv.a v.o");
  }
  unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }
  std::string pick(const std::vector<std::string>& names) {
    return names[below(static_cast<unsigned>(names.size()))];
  }
  void write_or_remove(const std::string& name, const std::string& content) {
    if (below(3) == 0)
      fs::remove(folder / name);
    else
      write(name, content);
  }

  void change() {
    const auto version = std::to_string(below(3));
    switch (below(9)) {
    case 0:
    case 1:
    case 2: {
      const auto name = "h" + std::to_string(below(3));
      write_or_remove(pick({"i1", "i2", "."}) + "/" + name + ".h",
                      "int " + name + "_" + version + ";\n");
      break;
    }
    case 3:
      fs::remove(folder / "turned");
      fs::create_symlink(pick({"i1", "i2", "nowhere"}), folder / "turned");
      break;
    case 4:
      if (below(3) == 0)
        fs::remove(folder / "l1" / "libv.a");
      else
        library(pick({"l1", "l2"}), below(3));
      break;
    case 5:
      // A linker script in a library's place.
      write("l1/libv.so", "INPUT(" + pick({"l2", "l1"}) + "/libv.a)\n");
      if (below(2) == 0) fs::remove(folder / "l1" / "libv.so");
      break;
    case 6: write("r", pick({"-Ll1 -Ll2 -lv\n", "-Ll2 -Ll1 -lv\n", "-Ll2 -lv\n"})); break;
    case 7: write_or_remove(pick({"s.inc", "data/1", "data/2"}), ".long " + version + "\n"); break;
    default: shell("touch " + pick({"a.c", "m.o", "i2", "l2", "data", "s.c"})); break;
    }
  }

  // What the command gives without Hearth: its output, or that it fails.
  std::string truth(const build_command& one) const {
    const auto out = logs / "truth";
    fs::remove(out);
    auto line = one.shell;
    line.replace(line.find("OUT"), 3, out.string());
    const bool succeeds =
        std::system(("cd '" + folder.string() + "' && { " + line + "; } 2>/dev/null").c_str()) == 0;
    return succeeds ? file_text(out) : "fails";
  }

  // What Hearth gives, and whether the command ran.
  std::pair<std::string, bool> cached(const build_command& one, bool is_watched) const {
    const auto trace = logs / "trace";
    fs::remove(trace);
    fs::remove(folder / "out");
    auto line = one.shell;
    line.replace(line.find("OUT"), 3, "out");
    words command;
    for (std::size_t at = 0; at < line.size();) {
      const auto end = std::min(line.find(' ', at), line.size());
      command.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (line.find('*') != line.npos) command = {"sh", "-c", line};
    const auto result = run({"--watch", is_watched ? "yes" : "no", "--keep-failures", "--trace",
                             trace.string(), "--out", "out"},
                            command);
    const bool ran = file_text(trace).find("\"ph\"") != std::string::npos;
    return {result.status == 0 ? text("out") : "fails", ran};
  }

  std::minstd_rand random{2911};
};

} // namespace

TEST_CASE_FIXTURE(random_project, "random builds: each result is that of a build without a cache") {
  const auto* const asked = std::getenv("HEARTH_RANDOM_CHANGES");
  constexpr int usual_changes = is_sanitized ? 40 : 500; // each look starts programs
  const int changes = asked ? std::atoi(asked) : usual_changes;
  std::vector<build_command> commands{
      {"gcc -I. -Ii1 -Iturned -Ii2 -c a.c -o OUT"},
      {"gcc -c s.c -o OUT"},
      {"gcc m.o @r -o OUT"},
      {"cat data/* > OUT"},
  };
  int runs = 0, needless = 0, looks = 0;
  for (int i = 0; i < changes; ++i) {
    change();
    auto& one = commands[below(static_cast<unsigned>(commands.size()))];
    const bool is_watched = below(5) != 0;
    CAPTURE(i);
    CAPTURE(one.shell);
    CAPTURE(is_watched);
    const auto right = truth(one);
    const auto [given, ran] = cached(one, is_watched);
    REQUIRE(given == right);
    if (!is_watched) continue;
    ++looks;
    runs += ran;
    needless += ran && right == one.last_truth;
    one.last_truth = right;
  }
  MESSAGE(looks << " watched looks, " << runs << " runs, " << needless
                << " of them gave what the look before had given (from other files)");
  CHECK(runs < looks);
}

} // namespace random_builds_test
