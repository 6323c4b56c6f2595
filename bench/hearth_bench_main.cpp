// The program `hearth-bench`, which measures Hearth against its peers. `hearth bench` runs it.
#include "bench/frame/machine.hpp"
#include "bench/frame/timing.hpp"
#include "bench/frame/work_directory.hpp"
#include "bench/rows.hpp"
#include "runtime/cli/io/output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <unistd.h>

namespace {

using namespace hearth;
using namespace hearth::bench;
using hearth::cli::status;

struct command_line {
  std::vector<std::string> prefixes;
  std::string directory;
  settings how;
  bool list = false;
  bool json = false;
  bool processor_time = false;
};

void describe(CLI::App& app, command_line& line) {
  app.add_option("NAME", line.prefixes, "the rows whose names start so; all without one");
  app.add_flag("--list", line.list, "list the rows and what they do");
  app.add_option("--dir", line.directory, "work below this directory ($TMPDIR, /tmp)");
  app.add_option("--rounds", line.how.rounds, "turns of each contender")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--only", line.how.only, "this contender's turns alone, without ratios");
  app.add_flag("--smoke", line.how.smoke, "tiny data, one round: whether it runs at all");
  app.add_flag("--cpu", line.processor_time, "measure processor time, on a machine that is busy");
  app.add_flag("--json", line.json, "print JSON");
}

int list(const registry& all) {
  std::string text;
  for (const auto& one : all.rows)
    text += fmt::format("{:<18} {}{}{}\n", one.name, one.work, one.peers.empty() ? "" : "; beside ",
                        fmt::join(one.peers, ", "));
  return cli::write_stdout(text) ? status::yes : status::trouble;
}

int complain(const error& why) {
  cli::say(fmt::format("hearth-bench: {}\n", why.text()));
  return cli::status_of(why);
}

// Runs a row. A row that fails prints its error, and the program continues with the next.
bool measure(const row& one, const settings& how, report& out) {
  try {
    row_run run(one.name, how, out);
    one.measure(run);
    return true;
  } catch (const std::exception& problem) {
    if (is_ending()) ::pause(); // until the signal ends the program
    cli::say(fmt::format("hearth-bench: {}: {}\n", one.name, problem.what()));
    return false;
  }
}

int run(command_line& line) {
  const auto all = all_rows();
  auto rows = select_rows(all, line.prefixes);
  if (!rows) return complain(rows.error());
  if (line.list) return list(all);
  const auto below =
      line.directory.empty() ? default_directory() : std::filesystem::path(line.directory);
  auto directory = work_directory::make(below);
  if (!directory) return complain(directory.error());
  line.how.directory = directory->path();
  if (line.how.smoke) line.how.rounds = 1;
  if (line.processor_time) stopwatch::count_processor_time();
  report out(line.json ? report::form::json : report::form::lines);
  out.machine(describe_machine(line.how.directory) +
              (line.processor_time ? "; processor time" : ""));
  bool good = true;
  for (const auto* one : *rows)
    good = measure(*one, line.how, out) && good;
  return out.finish() && good ? status::yes : status::trouble;
}

// `hearth-bench --role NAME ARGUMENT...`: started by a row, not by people.
int play_role(const std::vector<std::string>& arguments) {
  for (const auto& one : all_rows().roles)
    if (one.name == arguments.front()) return one.play({arguments.begin() + 1, arguments.end()});
  return complain({errc::invalid_argument, "there is no role '" + arguments.front() + "'"});
}

} // namespace

int main(int count, char** arguments) {
  try {
    if (count > 2 && std::string_view(arguments[1]) == "--role")
      return play_role({arguments + 2, arguments + count});
    command_line line;
    CLI::App app("Hearth beside its peers: RATIO <row>/<peer> <ours over peer's speed>",
                 "hearth-bench");
    describe(app, line);
    try {
      app.parse(count, arguments);
    } catch (const CLI::Success& wanted) { // --help
      return app.exit(wanted);
    } catch (const CLI::ParseError& problem) {
      return complain({errc::invalid_argument, problem.what()});
    }
    return run(line);
  } catch (const std::exception& problem) {
    return complain({errc::internal, std::string("unexpected: ") + problem.what()});
  }
}
