// A random project under random changes: after each change every source is compiled by its compiler
// alone and by `hearth cc`. Files, status and messages are the same. Sources, headers, flags, links
// and times of files change, headers come and go in folders of the search path, and the project is
// moved and copied to other folders.
//
// HEARTH_RANDOM_CHANGES=2000 is the long form, HEARTH_RANDOM_SEED another project.
#include "tests/support/action_bench.hpp"
#include "tests/support/sanitized.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sys/wait.h>

namespace random_compiles_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

/// A part of a command line, and what it may be. NAME stands for the source's name, FOLDER for the
/// project's folder.
using choices = std::vector<std::string>;

constexpr std::size_t compiler_part = 0, search_part = 1;
const std::vector<choices> c_parts{
    {"gcc", "clang"},
    {"-Ii1 -Ii2 -Ibase"}, // an order by chance, as `random_search_path` says
    {"", "-O0", "-O2"},
    {"", "", "-g", "-g -ffile-prefix-map=FOLDER=."},
    {"", "-DX=1", "-DX=2", "-DX=1 -UX"},
    {"", "", "-include pre.h"},
    {"", "-MD", "-MMD", "-MD -MF deps/NAME.d", "-MMD -MP -MT target/NAME -MF NAME.dep"},
    {"", "-std=gnu11", "-std=c17"},
    {"", "-w", "-Wall", "-Wall -Wextra", "-Wall -Werror", "-Wall -Wextra -Werror",
     "-Wall -fdiagnostics-color=always"},
    {"", "", "@flags"},
    {"-c", "-c", "-c", "-S", "-pipe -c"},
    {"src/NAME", "src/NAME", "./src/../src/NAME", "FOLDER/src/NAME"},
    {"-o build/NAME.o", "-o build/NAME.o", "", "-o NAME.out", "-o FOLDER/build/NAME.o"},
};

std::vector<choices> cxx_parts() {
  auto parts = c_parts;
  parts[compiler_part] = {"g++", "clang++"};
  for (auto& part : parts)
    if (part.back() == "-std=c17") part = {"", "-std=c++17", "-std=gnu++20"};
  return parts;
}

struct unit {
  std::string name;           ///< of the source
  std::vector<choices> parts; ///< what each part of its command may be
  words chosen;               ///< the parts as they are now
};

struct file_state {
  mode_t mode;
  std::string content;
  bool operator==(const file_state&) const = default;
};
using folder_state = std::map<std::string, file_state>;

/// What a compile leaves and says.
struct compile_end {
  program_result result;
  folder_state files;
};

struct figures {
  int compiles = 0;
  int hits = 0;     ///< found by the front program alone
  int runs = 0;     ///< ran, and the result was kept
  int failures = 0; ///< ran, and failed: nothing is kept
  int others = 0;   ///< ran and was not kept, or was found by the runtime
  int needless = 0; ///< of `runs` and `others`: was kept before, from the same files
};

// Adds a line to a log and becomes the program with the runtime.
const std::string logging_runtime = R"(
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const int file = open(LOG, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (argc < 1 || write(file, "run\n", 4) != 4) return 99;
  close(file);
  execv(RUNTIME, argv);
  return 99;
}
)";

struct compiled_project : action_bench {
  compiled_project(const words& sources, unsigned seed)
      : random(seed) {
    install_front();
    ::setenv("HEARTH_STORE", store.c_str(), 1);
    fs::remove_all(folder);
    folder = directory / "one";
    for (const auto* name : {"src", "i1", "i2", "i3", "base", "build", "deps"})
      fs::create_directories(folder / name);
    fs::create_symlink("i1", folder / "turned");
    for (const auto* name : {"h0", "h1", "h2"})
      for (const auto* where :
           {"i2/", "base/"}) // those of `base` stay, so that most compiles succeed
        write(where + std::string(name) + ".h", header_text(name));
    write("pre.h", "#define PRE 1\n");
    write("flags", "-DR=1\n");
    write("blob", "blob");
    const bool has_clang = std::system("clang++ --version > /dev/null 2>&1") == 0;
    for (const auto& name : sources) {
      unit one{name, name.ends_with(".c") ? c_parts : cxx_parts(), {}};
      if (!has_clang) one.parts[compiler_part].pop_back();
      for (const auto& part : one.parts)
        one.chosen.push_back(pick(part));
      write("src/" + one.name, source_text(one.name));
      units.push_back(std::move(one));
    }
  }
  ~compiled_project() { ::unsetenv("HEARTH_STORE"); }

  // The front program with a runtime beside it that says in a log that it was asked.
  void install_front() const {
    const auto tools = directory / "tools";
    fs::create_directory(tools);
    fs::copy_file(HEARTH_FRONT, tools / "hearth");
    write_text(tools / "runtime.c", logging_runtime);
    const auto line = "cd '" + tools.string() + "' && gcc runtime.c -o hearth-runtime -DLOG='\"" +
                      asked.string() + "\"' -DRUNTIME='\"" HEARTH_RUNTIME "\"'";
    REQUIRE(std::system(line.c_str()) == 0);
  }

  // Links that lead to each other lead nowhere: a header may be one that was moved into i2.
  static bool leads_to_file(const fs::path& path) {
    std::error_code nowhere;
    return fs::exists(path, nowhere);
  }
  static bool is_circle(const fs::path& path) {
    std::error_code why;
    (void)fs::status(path, why);
    return why == std::errc::too_many_symbolic_link_levels;
  }

  unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }
  template <class T>
  const T& pick(const std::vector<T>& all) {
    return all[below(static_cast<unsigned>(all.size()))];
  }

  // Versions have the same size, but for one that stands for the next header of its name.
  std::string header_text(const std::string& name) {
    const auto guard = "IN_" + name;
    const auto own = "#define " + guard + " " + std::to_string(below(3)) + "\nstatic " +
                     (below(4) == 0 ? "int " + name + "_unused" : "inline int " + name + "_u") +
                     "(void) { return 1; }\nstatic inline const char* " + name +
                     "_file(void) { return __FILE__; }\n";
    const auto body = below(6) != 0 ? own
                                    : "#if __has_include_next(<" + name + ".h>)\n#include_next <" +
                                          name + ".h>\n#else\n" + own + "#endif\n";
    return "#ifndef " + guard + "\n" + body + "#endif\n";
  }

  // Uses whatever headers there are.
  std::string source_text(const std::string& name) {
    const auto stem = name.substr(0, name.find('.'));
    std::string text = "#include \"h0.h\"\n";
    for (const auto* header : {"h1", "h2"})
      text += "#if __has_include(<" + std::string(header) + ".h>)\n#include <" + header +
              ".h>\n#endif\n";
    text += stem == "p" ? "#include <initializer_list>\n" : "#include <stddef.h>\n";
    if (stem == "b" || stem == "q") text += "__asm__(\".data\\n.incbin \\\"blob\\\"\\n.text\");\n";
    for (const auto* macro : {"IN_h1", "IN_h2", "X", "R", "PRE"})
      text += "#ifndef " + std::string(macro) + "\n#define " + macro + " 9\n#endif\n";
    text += "const char* file_" + stem + "(void) { return h0_file(); }\n";
    text += "int " + stem + "(int n) {\n  int sum = IN_h0 + IN_h1 + IN_h2 + X + R + PRE;\n";
    switch (below(8)) {
    case 0: text += "  int unused;\n"; break;
    case 1: text += "#if X < 9\n  return nothing;\n#endif\n"; break;
    case 2: text += "  /* a comment */\n"; break;
    default: break;
    }
    return text + "  for (int i = 0; i < n; ++i) sum += i * " + std::to_string(below(3)) +
           ";\n  return sum;\n}\n";
  }

  std::string random_search_path() {
    words all{"i1", "i2", "i3", "turned", "FOLDER/i1"};
    std::shuffle(all.begin(), all.end(), random);
    all.resize(2 + below(3));
    std::string path;
    for (const auto& one : all)
      path += (path.empty() ? "" : " ") + pick<std::string>({"-I", "-I", "-isystem ", "-iquote "}) +
              one;
    return path + (below(8) == 0 ? "" : " -Ibase");
  }

  std::string random_header_name() { return pick<std::string>({"h0", "h1", "h2"}) + ".h"; }
  std::string random_header() {
    return pick<std::string>({"i1", "i2", "i3", "src"}) + "/" + random_header_name();
  }
  std::string random_file() {
    return pick<std::string>(
        {random_header(), random_header(), "src/" + pick(units).name, "pre.h"});
  }

  // Writes in place, or makes another file, as editors do; in either case perhaps with the old
  // time.
  void replace(const std::string& name, const std::string& content) {
    std::error_code is_new;
    const auto time = fs::last_write_time(folder / name, is_new);
    if (below(2) == 0 || is_circle(folder / name)) fs::remove(folder / name);
    write(name, content);
    if (!is_new && below(3) == 0) fs::last_write_time(folder / name, time);
  }

  void touch(const std::string& name) {
    using std::chrono::hours;
    const auto now = fs::file_time_type::clock::now();
    auto time = below(2) == 0 ? now : now - hours(24 * 9000);
    if (below(6) == 0) time = now + hours(24 * 900);
    std::error_code ignored; // there may be no such header
    fs::last_write_time(folder / name, time, ignored);
  }

  void change_command() {
    auto& one = units[below(static_cast<unsigned>(units.size()))];
    const auto part = below(static_cast<unsigned>(one.parts.size()));
    one.chosen[part] = part == search_part ? random_search_path() : pick(one.parts[part]);
  }

  void change_header() {
    const auto name = random_header();
    switch (below(4)) {
    case 0: fs::remove(folder / name); break;
    case 1: // to another place of the search path
      if (const auto to = random_header(); leads_to_file(folder / name)) {
        fs::create_directories((folder / to).parent_path());
        fs::rename(folder / name, folder / to);
      }
      break;
    default: replace(name, header_text(fs::path(name).stem().string())); break;
    }
  }

  void turn_link() {
    fs::remove(folder / "turned");
    fs::create_symlink(pick<std::string>({"i1", "i2", "i3", "nowhere"}), folder / "turned");
  }

  // A header that is a link to one of i2, which may be missing.
  void link_header() {
    const auto name = pick<std::string>({"i1", "i3", "src"}) + "/" + random_header_name();
    fs::create_directories((folder / name).parent_path());
    fs::remove(folder / name);
    fs::create_symlink("../i2/" + random_header_name(), folder / name);
  }

  // The project goes to the other folder: it is moved or copied, or the older copy there is used.
  void change_folder() {
    const auto other = directory / (folder.filename() == "one" ? "two" : "one");
    if (below(3) != 0 || !fs::exists(other)) {
      fs::remove_all(other);
      if (below(2) == 0)
        fs::rename(folder, other);
      else
        fs::copy(folder, other, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    }
    folder = other;
  }

  std::string change() {
    switch (below(16)) {
    case 0:
    case 1:
    case 2: return change_command(), "command";
    case 3:
    case 4:
    case 5: return change_header(), "header";
    case 6:
    case 7: {
      const auto& name = pick(units).name;
      return replace("src/" + name, source_text(name)), "source";
    }
    case 8:
    case 9: return touch(random_file()), "time";
    case 10: return turn_link(), "link";
    case 11: return link_header(), "linked header";
    case 12: return change_folder(), "folder";
    case 13:
      replace("flags", pick<std::string>({"-DR=1\n", "-DR=2\n", "-DR=1 -O1\n", "'-DR=3' -Wall\n"}));
      return "response file";
    case 14:
      replace("pre.h", pick<std::string>({"#define PRE 1\n", "#define PRE 2\n", "int pre;\n"}));
      replace("blob", pick<std::string>({"blob", "BLOB", ""}));
      return "other files";
    default:
      if (below(2) == 0)
        fs::remove_all(folder / "i3");
      else
        fs::create_directory(folder / "i3");
      return "folder of the search path";
    }
  }

  std::string line_of(const unit& one) const {
    std::string line;
    for (const auto& part : one.chosen)
      if (!part.empty()) line += (line.empty() ? "" : " ") + part;
    for (const auto& [word, text] : {std::pair{"NAME", one.name}, {"FOLDER", folder.string()}})
      for (auto at = line.find(word); at != line.npos; at = line.find(word, at + text.size()))
        line.replace(at, std::string_view(word).size(), text);
    return line;
  }

  folder_state state_of_folder() const {
    folder_state all;
    for (const auto& one : fs::recursive_directory_iterator(folder)) {
      struct stat found {};
      REQUIRE(::lstat(one.path().c_str(), &found) == 0);
      auto& state = all[one.path().lexically_relative(folder).string()];
      state.mode = found.st_mode;
      if (one.is_symlink())
        state.content = fs::read_symlink(one.path()).string();
      else if (one.is_regular_file())
        state.content = file_text(one.path());
    }
    return all;
  }

  // Undoes what a compile has done.
  void restore(const folder_state& before) const {
    for (const auto& [name, state] : state_of_folder()) {
      const auto old = before.find(name);
      if (old == before.end())
        fs::remove(folder / name);
      else if (old->second != state)
        write(name, old->second.content);
    }
    for (const auto& [name, state] : before)
      if (S_ISREG(state.mode) && !fs::exists(fs::symlink_status(folder / name)))
        write(name, state.content);
    REQUIRE(state_of_folder() == before);
  }

  // What older compiles have left.
  void remove_outputs() const {
    for (const auto* name : {"build", "deps"}) {
      fs::remove_all(folder / name);
      fs::create_directory(folder / name);
    }
    for (const auto& name : files())
      if (constexpr std::array ends{".o", ".d", ".s", ".out", ".dep"};
          std::any_of(ends.begin(), ends.end(), [&](auto end) { return name.ends_with(end); }))
        fs::remove(folder / name);
  }

  compile_end compile(const std::string& line) const {
    const auto out = (logs / "out").string(), err = (logs / "err").string();
    const auto all =
        "cd '" + folder.string() + "' && " + line + " > '" + out + "' 2> '" + err + "' < /dev/null";
    const int ended = std::system(all.c_str());
    return {
        {WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended), file_text(out), file_text(err)},
        state_of_folder()};
  }

  // The results that are stored, each with the number of its place in the store: a result that is
  // stored again has another one.
  std::set<std::string> results() const {
    std::set<std::string> all;
    for (const auto& one :
         run_hearth({"list", "--store", store, "--cache", "results", "--json"}, logs).json())
      if (const auto name = one["key"].get<std::string>();
          name.find("observation set") == name.npos)
        all.insert(name + std::to_string(one["shard"].get<unsigned>()) + " " +
                   std::to_string(one["sequence"].get<std::uint64_t>()));
    return all;
  }

  // The command and all that it may read: the project without outputs and without other sources.
  std::string inputs_of(const unit& one, const std::string& line) const {
    auto all = folder.string() + "\n" + line + "\n";
    for (const auto& [name, state] : state_of_folder()) {
      const auto first = name.substr(0, name.find('/'));
      const bool is_source = name.ends_with(".c") || name.ends_with(".cpp");
      const bool is_input = first.starts_with("i") || first == "src" || first == "turned" ||
                            first == "base" || first == "pre.h" || first == "flags" ||
                            first == "blob";
      if (is_input && (!is_source || name == "src/" + one.name))
        all += name + "\n" + std::to_string(state.mode) + "\n" + state.content + "\n";
    }
    return all;
  }

  // Nothing is kept of a compile that read a file whose time is still to come, so its inputs are
  // not among those that need no further run.
  void count(const unit& one, const std::string& line, bool is_right) {
    ++seen.compiles;
    auto inputs = inputs_of(one, line);
    if (!fs::exists(asked)) {
      ++seen.hits;
      kept.insert(std::move(inputs));
      return;
    }
    if (!is_right) {
      ++seen.failures;
      return;
    }
    auto now = results();
    const bool is_kept = !std::includes(known.begin(), known.end(), now.begin(), now.end());
    ++(is_kept ? seen.runs : seen.others);
    known = std::move(now);
    seen.needless += kept.contains(inputs);
    if (is_kept) kept.insert(std::move(inputs));
  }

  void check(const unit& one) {
    const auto line = line_of(one);
    CAPTURE(folder.string());
    CAPTURE(line);
    if (below(2) == 0) remove_outputs();
    const auto before = state_of_folder();
    const auto right = compile(line);
    restore(before);
    fs::remove(asked);
    const auto given = compile(front + line);
    REQUIRE(given.result.status == right.result.status);
    REQUIRE(given.result.out == right.result.out);
    REQUIRE(given.result.err == right.result.err);
    for (const auto& [name, state] : right.files) {
      CAPTURE(name);
      REQUIRE(given.files.contains(name));
      REQUIRE(given.files.at(name).mode == state.mode);
      REQUIRE((given.files.at(name) == state));
    }
    REQUIRE(given.files.size() == right.files.size());
    count(one, line, right.result.status == 0);
  }

  std::mt19937 random;
  std::vector<unit> units;
  // With other variables of Hearth's the front program leaves all to the runtime.
  std::string front = "env -u HEARTH_RANDOM_CHANGES -u HEARTH_RANDOM_SEED '" +
                      (directory / "tools" / "hearth").string() + "' cc ";
  fs::path asked = logs / "asked"; ///< is there after the runtime was asked
  std::set<std::string> known;     ///< the results that were stored when it was last looked
  std::set<std::string> kept;      ///< inputs of which a result is kept
  figures seen;
};

int number_of_variable(const char* name, int usual) {
  const auto* const text = std::getenv(name);
  return text ? std::atoi(text) : usual;
}

void check_project(const words& sources, int usual_seed) {
  constexpr int usual_changes = is_sanitized ? 10 : 100; // of each of the two projects
  const int changes = number_of_variable("HEARTH_RANDOM_CHANGES", usual_changes);
  const int seed = number_of_variable("HEARTH_RANDOM_SEED", usual_seed);
  CAPTURE(seed);
  compiled_project project(sources, static_cast<unsigned>(seed));
  for (int i = 0; i < changes; ++i) {
    CAPTURE(i);
    const auto what = i == 0 ? "nothing" : project.change();
    CAPTURE(what);
    for (const auto& one : project.units)
      project.check(one);
  }
  const auto& seen = project.seen;
  MESSAGE("seed " << seed << ": " << seen.compiles << " compiles, " << seen.hits << " hits, "
                  << seen.runs << " runs, " << seen.failures << " failures, " << seen.others
                  << " others; " << seen.needless << " needless");
  CHECK(seen.hits > seen.compiles / 8);
  CHECK(seen.needless <= seen.compiles / 50);
}

} // namespace

TEST_CASE("random compiles: each result of C is that of the compiler alone") {
  check_project({"a.c", "b.c"}, 2911);
}

TEST_CASE("random compiles: each result of C++ is that of the compiler alone") {
  check_project({"p.cpp", "q.cpp"}, 7);
}

} // namespace random_compiles_test
