// The completions of shells and the manual pages name every command and option of the program.
#include "tests/integration/terminal_run.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

namespace completions_test {

using namespace hearth::test;
namespace fs = std::filesystem;
using words = std::vector<std::string>;

namespace {

const fs::path packaging = fs::path(HEARTH_SOURCE_DIR) / "packaging";

// What a command's --help lists.
struct listed {
  words commands;
  std::set<std::string> options; // "--cache"
};

listed read_help(words command, const fs::path& scratch) {
  command.emplace_back("--help");
  listed all;
  bool is_below = false;
  const auto help = run_hearth(command, scratch);
  REQUIRE(help.status == 0);
  for (const auto& line : lines_of(help.out)) {
    is_below = is_below || line == "Subcommands:";
    if (is_below && line.starts_with("  "))
      all.commands.push_back(line.substr(2, line.find(' ', 2) - 2));
    if (is_below || !line.starts_with("  -")) continue;
    const auto at = line.find("--");
    REQUIRE(at != std::string::npos);
    all.options.insert(line.substr(at, line.find_first_of(" =,", at) - at));
  }
  return all;
}

// The options of each command, by its name: "bundle export"; "" has those of all.
std::map<std::string, listed> all_of_help() {
  const temporary_directory scratch;
  std::map<std::string, listed> all;
  all[""] = read_help({}, scratch.path());
  REQUIRE(all[""].commands.size() > 20);
  for (const auto& name : all[""].commands) {
    all[name] = read_help({name}, scratch.path());
    for (const auto& below : all[name].commands)
      all[name + " " + below] = read_help({name, below}, scratch.path());
  }
  return all;
}

// What bash completes: `script` runs after the completions were read, with functions of its own.
words bash(const std::string& script) {
  const temporary_directory scratch;
  const auto file = scratch / "try.bash";
  write_text(file, "set -u\nsource '" + (packaging / "completions/hearth.bash").string() +
                       "'\n"
                       "try() { # WORD...: the last one is completed\n"
                       "  COMP_WORDS=(hearth \"$@\") COMP_CWORD=$#\n"
                       "  _hearth\n"
                       "  for one in \"${COMPREPLY[@]}\"; do echo \"$*: $one\"; done\n"
                       "}\n" +
                       script + "true\n");
  const auto out = (scratch / "out").string();
  const auto line = "bash '" + file.string() + "' > '" + out + "' 2>&1";
  const int status = std::system(line.c_str());
  CHECK_MESSAGE(status == 0, file_text(out));
  return lines_of(file_text(out));
}

bool has(const words& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
}

} // namespace

TEST_CASE("bash completes every command and option") {
  const auto file = "'" + (packaging / "completions/hearth.bash").string() + "'";
  CHECK(std::system(("bash -n " + file).c_str()) == 0);
  const auto all = all_of_help();
  std::string script;
  for (const auto& [name, about] : all) {
    script += "try " + name + " ''\n";
    script += "try " + name + " --\n";
  }
  const auto completed = bash(script);
  for (const auto& [name, about] : all) {
    CAPTURE(name);
    const auto prefix = name.empty() ? "" : name + " ";
    for (const auto& below : about.commands)
      CHECK_MESSAGE(has(completed, prefix + ": " + below), below);
    for (const auto& option : about.options)
      CHECK_MESSAGE(has(completed, prefix + "--: " + option), option);
  }
  for (const auto& option : all.at("").options)
    CHECK_MESSAGE(has(completed, "list --: " + option), option);
}

TEST_CASE("bash completes the values of options, and files where they belong") {
  const temporary_directory directory;
  fs::create_directory(directory / "folder");
  write_text(directory / "file", "");
  const auto completed = bash("cd '" + directory.path().string() + R"('
try li
try list --ca
try compile --tune ''
try compile --tune full ''
try --store ''
try --store folder st
try run --in ''
try run --in file ''
try run --out x -- cat fi
try put k ''
try get ''
try serve --role w
try simulate --trace ''
try help ke
try bundle ex
)");
  const words expected{"li: list",
                       "list --ca: --cache",
                       "compile --tune : full",
                       "compile --tune : descent",
                       "compile --tune : cached-only",
                       "compile --tune : off",
                       "compile --tune full : file",
                       "compile --tune full : folder",
                       "--store : folder",
                       "--store folder st: stats",
                       "run --in : file",
                       "run --in : folder",
                       "run --in file : file",
                       "run --in file : folder",
                       "run --out x -- cat fi: file",
                       "put k : file",
                       "put k : folder",
                       "serve --role w: writer",
                       "help ke: key",
                       "help ke: keys",
                       "bundle ex: export"};
  auto sorted = completed;
  auto wanted = expected;
  std::sort(sorted.begin(), sorted.end());
  std::sort(wanted.begin(), wanted.end());
  CHECK(sorted == wanted);
}

TEST_CASE("zsh and fish have every command and option") {
  const auto zsh = file_text(packaging / "completions/_hearth");
  const auto fish = file_text(packaging / "completions/hearth.fish");
  for (const auto& [name, about] : all_of_help()) {
    CAPTURE(name);
    for (const auto& command : about.commands) {
      const bool is_below = !name.empty();
      bool is_in_zsh = is_below && zsh.find(" " + command) != zsh.npos;
      for (const auto* quote : {"'", "\""})
        is_in_zsh = is_in_zsh || zsh.find(quote + command + ":") != zsh.npos;
      CHECK_MESSAGE(is_in_zsh, command);
      CHECK_MESSAGE(fish.find(is_below ? command : "\n__hearth_command " + command + " ") !=
                        fish.npos,
                    command);
    }
    for (const auto& option : about.options) {
      const auto bare = option.substr(2);
      bool is_in_zsh = false;
      for (const auto* end : {"[", ":", "}"})
        is_in_zsh = is_in_zsh || zsh.find(option + end) != zsh.npos;
      CHECK_MESSAGE(is_in_zsh, option);
      const bool is_in_fish = fish.find(" -l " + bare + " ") != fish.npos ||
                              fish.find(" -l " + bare + "\n") != fish.npos;
      CHECK_MESSAGE(is_in_fish, option);
    }
  }
  if (is_installed("zsh"))
    CHECK(std::system(("zsh -n '" + (packaging / "completions/_hearth").string() + "'").c_str()) ==
          0);
  if (is_installed("fish"))
    CHECK(
        std::system(("fish --no-execute '" + (packaging / "completions/hearth.fish").string() + "'")
                        .c_str()) == 0);
}

TEST_CASE("the manual page has every command and option") {
  auto page = file_text(packaging / "man/hearth.1");
  for (auto at = page.find("\\-"); at != page.npos; at = page.find("\\-"))
    page.erase(at, 1);
  for (const auto& [name, about] : all_of_help()) {
    CAPTURE(name);
    if (!name.empty() && about.commands.empty()) CHECK(page.find("\n.B " + name) != page.npos);
    for (const auto& option : about.options)
      CHECK_MESSAGE(page.find(option) != page.npos, option);
  }
}

TEST_CASE("the manual pages are set without a warning") {
  const temporary_directory directory;
  if (!is_installed("groff")) {
    MESSAGE("groff is not installed: the pages are not tried");
    return;
  }
  for (const auto* name : {"hearth.1", "hearth-cc.1"}) {
    CAPTURE(std::string(name));
    const auto warnings = (directory / "warnings").string();
    const auto line = "groff -man -Tutf8 -ww -z '" + (packaging / "man" / name).string() +
                      "' 2> '" + warnings + "'";
    CHECK(std::system(line.c_str()) == 0);
    CHECK(file_text(warnings) == "");
  }
}

} // namespace completions_test
