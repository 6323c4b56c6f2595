// What the program says of itself, and of a command line that it does not understand.
#include "tests/integration/terminal_run.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>

namespace help_test {

using namespace hearth::test;

namespace {

// The commands that `hearth --help` lists.
std::vector<std::string> commands() {
  const temporary_directory directory;
  std::vector<std::string> names;
  bool is_below = false;
  for (const auto& line : lines_of(run_hearth({"--help"}, directory.path()).out)) {
    if (is_below && line.starts_with("  ")) names.push_back(line.substr(2, line.find(' ', 2) - 2));
    is_below = is_below || line == "Subcommands:";
  }
  REQUIRE(names.size() > 20);
  return names;
}

} // namespace

TEST_CASE("a mistyped command or option is one line that names what was meant") {
  const temporary_directory directory;
  const auto check = [&](std::vector<std::string> words, const std::string& line) {
    const auto result = run_hearth(std::move(words), directory.path());
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK(result.err == "hearth: " + line + "\n");
  };
  check({"lits"}, "no command 'lits'; did you mean 'list'?");
  check({"complie", "plan.toml"}, "no command 'complie'; did you mean 'compile'?");
  check({"nothing-like-it"}, "no command 'nothing-like-it'; see 'hearth --help'");
  check({"autotune", "exprot", "x"},
        "no command 'autotune exprot'; did you mean 'autotune export'?");
  check({"bundle", "impotr", "x"}, "no command 'bundle impotr'; did you mean 'bundle import'?");
  check({"list", "--cahce", "x"}, "no option '--cahce' of 'list'; did you mean '--cache'?");
  check({"list", "--cahce=x"}, "no option '--cahce' of 'list'; did you mean '--cache'?");
  check({"get", "k", "--sotre", "s"}, "no option '--sotre' of 'get'; did you mean '--store'?");
  check({"--jsn", "list"}, "no option '--jsn' of 'list'; did you mean '--json'?");
  check({"evict", "--bytes", "9"}, "no option '--bytes' of 'evict'; see 'hearth help evict'");
  check({"simulate", "--sedes", "1"}, "no option '--sedes' of 'simulate'; did you mean '--seeds'?");
  check({"help", "lits"}, "no help about 'lits'; did you mean 'list'?");
  check({"help", "enviroment"}, "no help about 'enviroment'; did you mean 'environment'?");
  check({"help", "autotune", "shwo"}, "no help about 'shwo'; did you mean 'show'?");
  // What is not known may hold anything.
  check({"\x1b[31m"}, "no command '\\x1b[31m'; see 'hearth --help'");
}

TEST_CASE("a mistyped option of run is a failure of Hearth itself") {
  const temporary_directory directory;
  check_error(run_hearth({"run", "--ou", "f", "--", "true"}, directory.path()), 125,
              "did you mean '--out'?");
}

TEST_CASE("help lists every command and topic, and explains each") {
  const temporary_directory directory;
  const auto help = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "help");
    // It needs neither settings nor a home.
    words.insert(words.end(), {"--config", "/nowhere"});
    const auto result = run_hearth(words, directory.path());
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK(result.err.empty());
    return result.out;
  };
  const auto summary = help({});
  for (const auto& line : lines_of(summary))
    CHECK(line.size() <= 80);
  for (const auto& name : commands()) {
    CAPTURE(name);
    CHECK(summary.find("\n  " + name + " ") != std::string::npos);
    const auto about = run_hearth({"help", name}, directory.path());
    CHECK(about.status == 0);
    CHECK(about.out.find("Usage: hearth " + name) != std::string::npos);
  }
  for (const std::string topic : {"exit-status", "environment", "store", "remote", "keys"}) {
    CAPTURE(topic);
    CHECK(summary.find("\n  " + topic + " ") != std::string::npos);
    const auto lines = lines_of(help({topic}));
    CHECK(lines.size() > 8);
    for (const auto& line : lines)
      CHECK_MESSAGE(line.size() <= 80, line);
  }
  CHECK(help({"list"}).find("--cache") != std::string::npos);
  CHECK(help({"autotune", "export"}).find("Usage: hearth autotune export") != std::string::npos);
  CHECK(help({"cc"}).find("COMPILER [ARGUMENT...]") != std::string::npos);
  CHECK(help({"cc"}).find("--explain") != std::string::npos);
  CHECK(help({"run"}).find("-- COMMAND [ARGUMENT...]") != std::string::npos);
  CHECK(help({"explain"}).find("hearth explain --last") != std::string::npos);
  CHECK(help({"environment"}).find("HEARTH_STORE") != std::string::npos);
  CHECK(help({"exit-status"}).find("125") != std::string::npos);
}

TEST_CASE("a command whose output has no reader ends quietly with 141") {
  const temporary_directory directory;
  const auto store = (directory / "store").string();
  write_text(directory / "one", "1");
  const auto one = (directory / "one").string();
  REQUIRE(run_hearth({"put", "k", one, "--store", store}, directory.path()).status == 0);
  const std::vector<std::vector<std::string>> commands{
      {"list", "--store", store},
      {"list", "--json", "--store", store},
      {"stats", "--store", store},
      {"help"},
      {"help", "store"},
      {"get", "k", "--store", store},
      {"--version"},
      {"run", "--store", store, "--", "echo", "said"},
      {"simulate", "--seeds", "1"}};
  for (const auto& command : commands) {
    CAPTURE(command.front());
    for (const auto* program : {HEARTH_FRONT, HEARTH_RUNTIME}) {
      // The parser itself prints the version, and does not look at what became of it.
      if (command.front() == "--version" && program != std::string(HEARTH_FRONT)) continue;
      const auto ended = run_without_reader(command, directory.path(), program);
      CHECK(ended.status == 141);
      CHECK(ended.err == "");
    }
  }
}

} // namespace help_test
