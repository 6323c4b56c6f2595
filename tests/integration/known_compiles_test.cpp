// Compiles that are found by the marks of what they looked at: each kind of change, in a project of
// its own, once the stamps of all files are old enough to be trusted. One wait serves all of them.
#include "tests/support/action_bench.hpp"

#include <cstdlib>
#include <ctime>
#include <map>
#include <sys/wait.h>
#include <thread>

namespace known_compiles_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// A compile is found, is compiled and kept, or runs as it is: it fails, or its compiler is a
// script.
enum class afterwards { found, compiled, plain };

struct change {
  const char* name;
  const char* line;    ///< of the compile
  const char* script;  ///< what changes
  afterwards then;     ///< how the next compile ends
  bool shares = false; ///< its result is that of another project at first
};

constexpr change changes[] = {
    {"nothing", "gcc -c a.c", "true", afterwards::found},
    {"source", "gcc -c a.c", "echo 'int g(void) { return 7; }' > a.c", afterwards::compiled},
    {"same size and time", "gcc -c a.c",
     "touch -r i2/x.h t; sed -i s/1/2/ i2/x.h; touch -r t i2/x.h", afterwards::compiled},
    {"in place", "gcc -c a.c", "printf '#define X 3\n' > i2/x.h", afterwards::compiled},
    {"renamed over", "gcc -c a.c", "echo '#define X 4' > n; mv n i2/x.h", afterwards::compiled},
    {"appears earlier", "gcc -c a.c", "echo '#define X 5' > i1/x.h", afterwards::compiled},
    {"a folder appears", "gcc -Ii0 -c a.c", "mkdir i0; echo '#define X 6' > i0/x.h",
     afterwards::compiled},
    {"asked for in vain", "gcc -c a.c", "echo '#define Y 1' > i2/y.h", afterwards::compiled},
    {"link turned", "gcc -include l.h -c a.c", "rm l.h; ln -s l2.h l.h", afterwards::compiled},
    {"gone", "gcc -include l1.h -c a.c", "rm l1.h", afterwards::plain},
    {"response file", "gcc @flags -c a.c", "echo '-DZ=9' > flags", afterwards::compiled},
    {"a compiler earlier in PATH", "PATH=$PWD/bin:$PATH gcc -c a.c",
     "printf '#!/bin/sh\nexec /usr/bin/gcc -DZ=8 \"$@\"\n' > bin/gcc; chmod +x bin/gcc",
     afterwards::plain},
    {"the compiler itself", "PATH=$PWD/own:$PATH gcc -c a.c",
     "rm own/gcc; printf '#!/bin/sh\nexec /usr/bin/gcc -DZ=7 \"$@\"\n' > own/gcc; chmod +x own/gcc",
     afterwards::plain},
    {"an assembler earlier in PATH", "PATH=$PWD/bin:$PATH gcc -c a.c",
     "printf '#!/bin/sh\nexit 3\n' > bin/as; chmod +x bin/as", afterwards::plain},
    {"shared by all PATHs", "gcc -c a.c", "true", afterwards::found, true},
    {"a shared result, and an assembler earlier in PATH", "PATH=$PWD/bin:$PATH gcc -c a.c",
     "printf '#!/bin/sh\nexit 3\n' > bin/as; chmod +x bin/as", afterwards::plain, true},
    {"a shared result, and a compiler earlier in PATH", "PATH=$PWD/bin:$PATH gcc -c a.c",
     "printf '#!/bin/sh\nexec /usr/bin/gcc -DZ=8 \"$@\"\n' > bin/gcc; chmod +x bin/gcc",
     afterwards::plain, true},
    {"a shared result, and another assembler in the place of an equal one",
     "PATH=$PWD/tools:$PATH gcc -c a.c", "printf '#!/bin/sh\nexit 3\n' > tools/as",
     afterwards::plain, true},
    {"times alone", "gcc -c a.c", "touch a.c i2/x.h", afterwards::found},
    {"another file beside", "gcc -c a.c", "echo > i2/other.h; mkdir i3", afterwards::found},
    {"clang", "clang -c a.c", "printf '#define X 3\n' > i2/x.h", afterwards::compiled},
    {"dependency file", "gcc -MD -c a.c", "echo '#define X 5' > i1/x.h", afterwards::compiled},
};

struct project {
  const change& about;
  fs::path folder;
};

struct known : action_bench {
  known() { ::setenv("HEARTH_STORE", store.c_str(), 1); }
  ~known() { ::unsetenv("HEARTH_STORE"); }

  project make(const change& about) const {
    project made{about, folder / std::to_string(&about - changes)};
    fs::create_directories(made.folder);
    CHECK(shell(made, "mkdir i1 i2 bin own tools; cp /usr/bin/as tools/as; echo '#define X 1' > "
                      "i2/x.h; echo '#define L 1' > l1.h; "
                      "echo '#define L 2' > l2.h; ln -s l1.h l.h; echo -DZ=1 > flags; "
                      "ln -s /usr/bin/gcc own/gcc; "
                      "printf '#include <x.h>\n#if __has_include(<y.h>)\n#include <y.h>\n#endif\n"
                      "#ifndef L\n#define L 0\n#endif\n#ifndef Y\n#define Y 0\n#endif\n"
                      "#ifndef Z\n#define Z 0\n#endif\nint f(void) { return X + 10 * L + 100 * Y + "
                      "1000 * Z; }\n' > a.c")
              .status == 0);
    return made;
  }

  program_result shell(const project& in, const std::string& script) const {
    const auto out = logs / "out", err = logs / "err";
    const auto all = "cd '" + in.folder.string() + "' && { " + script + "; } > '" + out.string() +
                     "' 2> '" + err.string() + "' < /dev/null";
    const int ended = std::system(all.c_str());
    return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended), file_text(out),
            file_text(err)};
  }
  // The command with the search path, and the launcher before the compiler.
  static std::string line_of(const project& in, const std::string& before) {
    std::string line = in.about.line;
    const auto compiler = line.find(line.find("clang") != line.npos ? "clang" : "gcc");
    line.insert(compiler, before);
    // Each of its own, unless it is to share another's result.
    return line + " -Ii1 -Ii2" + (in.about.shares ? "" : " -DP=" + in.folder.filename().string());
  }
  program_result compile(const project& in, const std::string& before) const {
    return shell(in, line_of(in, before));
  }
  std::map<std::string, std::string> outputs(const project& in) const {
    std::map<std::string, std::string> all;
    for (const auto* name : {"a.o", "a.d"}) {
      if (fs::exists(in.folder / name)) all[name] = file_text(in.folder / name);
      fs::remove(in.folder / name);
    }
    return all;
  }
  std::size_t records() const {
    return static_cast<std::size_t>(
        std::count_if(facts_.begin(), facts_.end(), [](const std::string& fact) {
          return fact.find("\"compile ") != fact.npos;
        }));
  }
  void read_facts() {
    facts_ = lines_of(run_hearth({"list", "--store", store, "--cache", "facts"}, logs).out);
  }
  // The number of compiles so far that were not found.
  int misses() const {
    return run_hearth({"stats", "--store", store, "--json"}, logs).json()["compiles"]["misses"];
  }
  // Returns when the stamps of what has changed until now can be trusted.
  static void let_stamps_age() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const auto until = now.tv_sec + 3;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (now.tv_sec <= until);
  }

  const std::string launcher = HEARTH_FRONT " cc ";
  words facts_;
};

} // namespace

TEST_CASE_FIXTURE(known, "cc: known compiles are found until one thing changes") {
  std::vector<project> projects;
  for (const auto& one : changes)
    projects.push_back(make(one));
  for (const auto& one : projects) {
    CAPTURE(std::string(one.about.name));
    CHECK(compile(one, launcher).status == 0);
    (void)outputs(one);
  }
  const auto compiled = misses();
  const auto sharing = std::count_if(std::begin(changes), std::end(changes),
                                     [](const change& one) { return one.shares; });
  CHECK(compiled == static_cast<int>(projects.size()) - sharing + 1);
  let_stamps_age();
  for (int round = 0; round < 2; ++round) // the first one records the marks
    for (const auto& one : projects) {
      CAPTURE(std::string(one.about.name));
      CHECK(compile(one, launcher).status == 0);
      const auto given = outputs(one);
      CHECK(compile(one, "").status == 0);
      CHECK(given == outputs(one));
    }
  CHECK(misses() == compiled);
  read_facts();
  CHECK(records() == projects.size());
  auto expected_misses = compiled;
  for (const auto& one : projects) {
    CAPTURE(std::string(one.about.name));
    REQUIRE(shell(one, one.about.script).status == 0);
    const auto given = compile(one, launcher);
    const auto made = outputs(one);
    const auto right = compile(one, "");
    CHECK(given.status == right.status);
    CHECK(given.err == right.err);
    CHECK(made == outputs(one));
    if (one.about.then == afterwards::compiled) ++expected_misses;
  }
  CHECK(misses() == expected_misses);
}

} // namespace known_compiles_test
