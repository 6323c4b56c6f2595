// The program `hearth-simulation`: the commands script and simulate, for which `hearth` starts it.
// Users of a cache never run them, so they need neither build nor load the simulator.
#include "runtime/api/version.hpp"
#include "runtime/cli/help/usage_problem.hpp"
#include "runtime/cli/io/output.hpp"
#include "runtime/cli/io/programs.hpp"
#include "runtime/cli/simulation/commands.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace {

using namespace hearth;
using namespace hearth::cli;

// All options and arguments. The given subcommand sets `run`.
struct command_line {
  script_arguments script;
  simulate_arguments simulate;
  bool json = false;
  std::function<int()> run;
};

void add_script_command(CLI::App& app, command_line& line) {
  auto* sub = app.add_subcommand("script", "run scripted message tests");
  sub->add_option("FILE", line.script.files, "the scripts")->required();
  sub->add_option("--seeds", line.script.seeds, "vary what a script leaves open: A..B");
  sub->add_flag("--trace", line.script.trace, "print every message");
  sub->callback([&line] {
    line.run = [&line] {
      line.script.json = line.json;
      return script(line.script);
    };
  });
}

void add_simulate_command(CLI::App& app, command_line& line) {
  auto* sub = app.add_subcommand("simulate", "the whole runtime under random work and faults");
  sub->add_option("--seeds", line.simulate.seeds, "which worlds: A..B")->required();
  sub->add_option("--hosts", line.simulate.hosts)->capture_default_str()->check(CLI::Range(1, 8));
  sub->add_option("--processes", line.simulate.processes, "of a host")
      ->capture_default_str()
      ->check(CLI::Range(1, 16));
  sub->add_option("--minutes", line.simulate.minutes, "of virtual time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1440));
  auto* cluster = sub->add_flag("--cluster", line.simulate.cluster,
                                "every world has a Redis Cluster, with failovers and splits");
  sub->add_flag("--remotes", line.simulate.remotes,
                "every world has two servers, one behind the other")
      ->excludes(cluster);
  auto* trace = sub->add_flag("--trace", line.simulate.trace, "print every message");
  sub->add_flag("--no-hash", line.simulate.no_hash, "do not hash the trace, which is faster")
      ->excludes(trace);
  sub->callback([&line] {
    line.run = [&line] {
      line.simulate.json = line.json;
      return simulate(line.simulate);
    };
  });
}

int run(int count, char** arguments) {
  command_line line;
  CLI::App app("Hearth's message tests and simulator", "hearth");
  app.set_version_flag("--version", "hearth " + std::string(version()));
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", line.json, "print JSON");
  add_script_command(app, line);
  add_simulate_command(app, line);
  try {
    app.parse(count, arguments);
  } catch (const CLI::Success& wanted) { // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& problem) {
    return report({errc::invalid_argument, usage_problem(app, problem)});
  }
  return line.run();
}

} // namespace

int main(int count, char** arguments) { return run_program(run, count, arguments); }
