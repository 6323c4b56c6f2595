// Plans whose compiles read files that no list of flags tells: each is compiled, found, changed,
// compiled again, and compared with what a runtime without a store makes. Also where compiles are
// not watched: then what the include scanner sees decides.
#include "runtime/handle/runtime.hpp"
#include "runtime/orchestrator/compile_plan.hpp"
#include "runtime/process/process_runner.hpp"
#include "tests/support/files.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace watched_plan_test {

using namespace hearth;
using namespace hearth::orchestrator;
namespace fs = std::filesystem;

namespace {

struct plan_case {
  std::string name;
  std::string flags;  ///< of the compiler, in the plan's syntax
  std::string source; ///< before the kernel
  std::string set_up; ///< a shell script in the plan's folder
  std::string change; ///< one that makes the program another one
};

const std::string library = "ar rcsD l/libv.a v.o";
const std::string first_library =
    "mkdir l; echo 'int v(void){return 1;}' > v.c; gcc -fPIC -c v.c; " + library;
const std::string other_library =
    "echo 'int v(void){return 22;}' > v.c; gcc -fPIC -c v.c; rm l/libv.a; " + library;
const std::string calls_library = "int v(void);\n#define VALUE v()\n";

bool can_be_tested() {
  const auto why = process::why_not_watched();
  if (!why.empty()) MESSAGE("not tested, since programs cannot be watched here: " << why);
  return why.empty();
}

struct plan_bench {
  test::temporary_directory directory;
  fs::path folder = directory / "plan";
  fs::path store = directory / "store";
  bool watches = true;

  void script(const std::string& text) const {
    const auto command = "cd '" + folder.string() + "' && { " + text + "; }";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  void write_plan(const plan_case& one, const std::string& configs = "{ TILE = 1 }",
                  const std::string& shapes = "{ n = 1 }") const {
    test::write_text(folder / "k.c",
                     "#include <stdint.h>\n" + one.source +
                         "\n#ifndef VALUE\n#define VALUE 3\n#endif\n"
                         "void k(void* const* buffers, const int64_t* sizes) {\n"
                         "  (void)sizes;\n  *(int32_t*)buffers[0] = TILE * VALUE;\n}\n");
    test::write_text(folder / "plan.toml",
                     "[toolchain]\ncompiler = \"gcc\"\nflags = [" + one.flags +
                         "]\n[[kernel]]\nname = \"k\"\nsource = \"k.c\"\nentry = \"k\"\n"
                         "symbols = [\"n\"]\n"
                         "buffers = [{ type = \"i32\", shape = [\"n\"], output = true }]\n"
                         "configs = [" +
                         configs + "]\nshapes = [" + shapes + "]\n");
  }
  // `in`: the store; empty: none.
  plan_report compile(const fs::path& in, tune_mode mode = tune_mode::off) const {
    const auto work = load_plan((folder / "plan.toml").string());
    REQUIRE_MESSAGE(work, work.error().text());
    config settings;
    settings.store = in;
    settings.watch_programs = watches;
    runtime rt(settings);
    auto report = compile_plan(rt, *work, {mode, ""}, {});
    REQUIRE_MESSAGE(report, report.error().text());
    return std::move(*report);
  }
  static std::string program_of(const plan_report& report) {
    const auto& made = report.requests.front().result;
    CHECK_MESSAGE(made.status != tune_status::failed, made.problem);
    CHECK(made.problem == "");
    return std::string(made.library.payload());
  }
  std::string truth() const { return program_of(compile({})); }
  // Whether the compiler ran; the entry was found otherwise.
  bool runs_now(std::string& program, tune_mode mode = tune_mode::off) const {
    const auto report = compile(store, mode);
    program = program_of(report);
    CHECK((report.compiler_runs == 0) == (report.hits == report.requests.size()));
    return report.compiler_runs > 0;
  }
  void begin(const plan_case& one) const {
    fs::remove_all(folder);
    fs::remove_all(store);
    fs::create_directory(folder);
    script(one.set_up);
    write_plan(one);
  }
  void check(const plan_case& one) const {
    CAPTURE(one.name);
    begin(one);
    std::string before, found, after;
    CHECK(runs_now(before));
    CHECK_FALSE(runs_now(found));
    CHECK(found == before);
    script(one.change);
    CHECK(runs_now(after));
    CHECK(after != before);
    CHECK(after == truth());
    CHECK_FALSE(runs_now(found));
    CHECK(found == after);
  }
};

// A plan whose compile reads headers of a search path, a link, a response file, libraries, linker
// scripts and a file of the assembler, all of which come, go and change.
struct random_plan : plan_bench {
  random_plan() {
    begin({"", R"("-I.", "-Ii1", "-Iturned", "-Ii2", "@r")",
           "#if __has_include(\"h0.h\")\n#include \"h0.h\"\n#endif\n"
           "#if __has_include(\"h1.h\")\n#include \"h1.h\"\n#endif\n"
           "#ifndef H0\n#define H0 0\n#endif\n#ifndef H1\n#define H1 0\n#endif\n"
           "__asm__(\".data\\n.include \\\"s.inc\\\"\\n.text\");\n"
           "int v(void);\n#define VALUE (H0 * 100 + H1 * 10 + v())\n",
           "mkdir i1 i2 l1 l2; ln -s i1 turned; echo '#define H0 1' > i2/h0.h; "
           "echo '.long 1' > s.inc; echo '-Wl,-u,v -Ll1 -Ll2 -lv' > r",
           ""});
    make_library("l2", "1");
  }
  unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }
  std::string pick(const std::vector<std::string>& from) {
    return from[below(static_cast<unsigned>(from.size()))];
  }
  void make_library(const std::string& where, const std::string& number) const {
    script("echo 'int v(void){return " + number + ";}' > v.c; gcc -fPIC -c v.c; rm -f " + where +
           "/libv.a; ar rcsD " + where + "/libv.a v.o");
  }
  void change() {
    const auto number = std::to_string(below(3));
    const auto is_removed = below(3) == 0;
    switch (below(7)) {
    case 0:
    case 1: {
      const auto name = pick({"0", "1"});
      const auto header = pick({"i1", "i2", "."}) + "/h" + name + ".h";
      return script(is_removed ? "rm -f " + header
                               : "echo '#define H" + name + " " + number + "' > " + header);
    }
    case 2: return script("ln -sfn " + pick({"i1", "i2", "nowhere"}) + " turned");
    case 3:
      if (is_removed) return script("rm -f l1/libv.a");
      return make_library(pick({"l1", "l2"}), number);
    case 4:
      return script(is_removed ? "rm -f l1/libv.so"
                               : "echo 'INPUT(" + pick({"l1", "l2"}) + "/libv.a)' > l1/libv.so");
    case 5:
      return script("echo '-Wl,-u,v " + pick({"-Ll1 -Ll2 -lv", "-Ll2 -Ll1 -lv", "-Ll2 -lv"}) +
                    "' > r");
    default: return script("echo '.long " + number + "' > s.inc; touch k.c");
    }
  }
  // The program, or that there is none.
  static std::string outcome_of(const plan_report& report) {
    const auto& made = report.requests.front().result;
    return made.status == tune_status::failed ? "fails" : std::string(made.library.payload());
  }

  std::minstd_rand random{2911};
};

} // namespace

TEST_CASE_FIXTURE(plan_bench, "watched plans: what a compile reads without being told") {
  if (!can_be_tested()) return;
  const std::vector<plan_case> cases{
      {"__has_include", "", "#if __has_include(\"x.h\")\n#include \"x.h\"\n#endif\n", "true",
       "echo '#define VALUE 7' > x.h"},
      {"a folder earlier in the search path", "\"-Ii1\", \"-Ii2\"", "#include \"x.h\"\n",
       "mkdir i1 i2; echo '#define VALUE 1' > i2/x.h", "echo '#define VALUE 2' > i1/x.h"},
      {"-Wl,-L -l", "\"-Wl,-Ll\", \"-Wl,-u,v,-lv\"", calls_library, first_library, other_library},
      {"-Wl,-Bstatic,-l", "\"-Ll\", \"-Wl,-u,v,-Bstatic,-lv,-Bdynamic\"", calls_library,
       first_library, other_library},
      {"a response file", "\"@r\"", calls_library, first_library + "; echo '-Ll -Wl,-u,v,-lv' > r",
       other_library},
      {"-Wl,@file", "\"-Wl,@r\"", calls_library, first_library + "; echo '-Ll -u v -lv' > r",
       other_library},
      {"a linker script named like a library", "\"-Ll\", \"-Wl,-u,v,-lw\"", calls_library,
       first_library + "; mv l/libv.a l/real.a; echo 'INPUT(l/real.a)' > l/libw.a",
       "echo 'int v(void){return 22;}' > v.c; gcc -fPIC -c v.c; rm l/real.a; "
       "ar rcsD l/real.a v.o"},
      {".include of the assembler", "", "__asm__(\".include \\\"x.s\\\"\");\n",
       "printf '.data\\n.long 1\\n.text\\n' > x.s", "printf '.data\\n.long 7\\n.text\\n' > x.s"},
      {"-Wa,@file", "\"-Wa,@r\"", "", "echo '--defsym Q=1' > r", "echo '--defsym QQ=4' > r"},
      {"-specs", "\"-specs=s\"", "", "printf '*cpp:\\n+ -DVALUE=1\\n\\n' > s",
       "printf '*cpp:\\n+ -DVALUE=5\\n\\n' > s"},
      {"-B", "\"-Bb/\"", "", "mkdir b",
       "printf '#!/bin/sh\\nexec /usr/bin/as --defsym N=1 \"$@\"\\n' > b/as; chmod +x b/as"},
      {"a header in the folder above", "", "#include \"../up.h\"\n",
       "echo '#define VALUE 1' > ../up.h", "echo '#define VALUE 2' > ../up.h"},
      {"a link that is turned", "", "#include \"d/x.h\"\n",
       "mkdir d1 d2; echo '#define VALUE 1' > d1/x.h; echo '#define VALUE 2' > d2/x.h; "
       "ln -s d1 d",
       "ln -sfn d2 d"},
  };
  for (const auto& one : cases)
    check(one);
}

TEST_CASE_FIXTURE(random_plan, "watched plans: random changes give what a build without a cache") {
  if (!can_be_tested()) return;
  const auto* const asked = std::getenv("HEARTH_RANDOM_CHANGES");
  const int changes = asked ? std::atoi(asked) : test::is_sanitized ? 12 : 60;
  int runs = 0, needless = 0, found = 0;
  std::string last;
  for (int i = 0; i < changes; ++i) {
    change();
    CAPTURE(i);
    const auto right = outcome_of(compile({}));
    const auto given = compile(store);
    REQUIRE(outcome_of(given) == right);
    const bool ran = given.compiler_runs > 0;
    runs += ran;
    needless += ran && right == last && right != "fails";
    last = right;
    if (right == "fails") continue; // failures are not kept
    CHECK(compile(store).compiler_runs == 0);
    ++found;
  }
  MESSAGE(changes << " looks, " << runs << " runs, " << needless
                  << " of them gave what the look before had given (from other files)");
  CHECK(found > 0);
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: what comes back is found again") {
  if (!can_be_tested()) return;
  begin({"", "\"-Ll\", \"-Wl,-u,v,-lv\"", calls_library, first_library, ""});
  std::string first, second, third;
  CHECK(runs_now(first));
  script(other_library);
  CHECK(runs_now(second));
  script("echo 'int v(void){return 1;}' > v.c; gcc -fPIC -c v.c; rm l/libv.a; " + library);
  CHECK_FALSE(runs_now(third));
  CHECK(first == third);
  CHECK(first != second);
}

TEST_CASE_FIXTURE(
    plan_bench,
    "watched plans: an entry is made anew when what a failed configuration read changes") {
  if (!can_be_tested()) return;
  const plan_case one{"", "\"-Ll\", \"-Wl,-u,v,-lv\"",
                      "#if TILE == 2 && !__has_include(\"x.h\")\n#error no\n#endif\n" +
                          calls_library,
                      first_library, ""};
  begin(one);
  write_plan(one, "{ TILE = 1 }, { TILE = 2 }");
  const auto rejected = [&] {
    return compile(store, tune_mode::full).requests.front().result.rejected.size();
  };
  CHECK(rejected() == 1);
  CHECK(compile(store, tune_mode::full).compiler_runs == 0);
  script("touch x.h");
  CHECK(rejected() == 0);
  CHECK(compile(store, tune_mode::full).compiler_runs == 0);
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: the best configuration does not compile any more") {
  if (!can_be_tested()) return;
  const plan_case one{"", "",
                      "#if TILE == 1 && __has_include(\"x.h\")\n#error no\n#endif\n"
                      "#if TILE == 2 && !__has_include(\"x.h\")\n#error no\n#endif\n",
                      "true", ""};
  begin(one);
  write_plan(one, "{ TILE = 1 }, { TILE = 2 }", "{ n = 1 }, { n = 2 }, { n = 3 }");
  const auto tile = [&] {
    const auto report = compile(store, tune_mode::full);
    program_of(report);
    return *report.requests.back().result.config.at("TILE").as<std::int64_t>();
  };
  CHECK(tile() == 1);
  script("touch x.h");
  CHECK(tile() == 2);
  CHECK(tile() == 2);
  CHECK(compile(store, tune_mode::full).compiler_runs == 0);
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: a plan that is reached by a link that is turned") {
  if (!can_be_tested()) return;
  const plan_case one{"", "\"-Ll\", \"-Wl,-u,v,-lv\"", calls_library, first_library, ""};
  begin(one);
  fs::copy(folder, directory / "other", fs::copy_options::recursive);
  std::string before, after;
  const auto real = folder;
  folder = directory / "current";
  fs::create_directory_symlink(real, folder);
  CHECK(runs_now(before));
  fs::remove(folder);
  fs::create_directory_symlink(directory / "other", folder);
  CHECK_FALSE(runs_now(after));
  script(other_library);
  CHECK(runs_now(after));
  CHECK(after != before);
  CHECK(after == truth());
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: every way of tuning finds what it has kept") {
  if (!can_be_tested()) return;
  const plan_case one{"", "", "", "true", ""};
  for (const auto mode :
       {tune_mode::off, tune_mode::cached_only, tune_mode::descent, tune_mode::full}) {
    CAPTURE(to_string(mode));
    begin(one);
    write_plan(one, "{ TILE = 1 }, { TILE = 2 }, { TILE = 3 }, { TILE = 4 }",
               "{ n = 1 }, { n = 2 }");
    std::string made, found;
    CHECK(runs_now(made, mode));
    CHECK_FALSE(runs_now(found, mode));
    CHECK(found == made);
  }
  // A plan that was tuned serves the modes that measure nothing.
  for (const auto mode : {tune_mode::off, tune_mode::cached_only, tune_mode::descent}) {
    std::string found;
    CHECK_FALSE(runs_now(found, mode));
  }
}

TEST_CASE_FIXTURE(plan_bench,
                  "watched plans: a file that changes while it is compiled keeps nothing") {
  if (!can_be_tested()) return;
  begin({"", "\"-Bb/\"", "",
         "mkdir b; echo 1 > x; "
         "printf '#!/bin/sh\\ncat x > /dev/null; echo 2 > x; exec /usr/bin/as \"$@\"\\n' > b/as; "
         "chmod +x b/as",
         ""});
  const auto report = compile(store);
  const auto& made = report.requests.front().result;
  CHECK(made.status == tune_status::compiled);
  CHECK(made.problem.find("changed while") != std::string::npos);
  CHECK(compile(store).compiler_runs == 1);
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: the names in a folder that a compile lists") {
  if (!can_be_tested()) return;
  check({"a listing", "\"-Bb/\"", "",
         "mkdir b d; touch d/1; printf '#!/bin/sh\\nfor i in d/*; do n=$((n+1)); done\\n"
         "exec /usr/bin/as --defsym N=$n \"$@\"\\n' > b/as; chmod +x b/as",
         "touch d/2"});
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: without watching, the compiler decides") {
  watches = false;
  begin({"", "", "", "printf '#!/bin/sh\\nexec gcc -DVALUE=1 \"$@\"\\n' > cc; chmod +x cc", ""});
  script("sed -i 's|\"gcc\"|\"./cc\"|' plan.toml");
  std::string before, found, after;
  CHECK(runs_now(before));
  CHECK_FALSE(runs_now(found));
  script("sed -i s/VALUE=1/VALUE=2/ cc");
  CHECK(runs_now(after));
  CHECK(after != before);
}

TEST_CASE_FIXTURE(plan_bench, "watched plans: without watching, the include scanner decides") {
  watches = false;
  begin({"", "", "#include \"x.h\"\n", "echo '#define VALUE 1' > x.h", ""});
  std::string before, found, after;
  CHECK(runs_now(before));
  CHECK_FALSE(runs_now(found));
  script("echo '#define VALUE 2' > x.h");
  CHECK(runs_now(after));
  CHECK(after != before);
}

} // namespace watched_plan_test
