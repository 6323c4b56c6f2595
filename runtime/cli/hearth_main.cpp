// The program `hearth-runtime`, which `hearth` becomes for all that it cannot answer by itself:
// parses the command line and calls the command.
#include "runtime/api/version.hpp"
#include "runtime/cli/commands/autotune_commands.hpp"
#include "runtime/cli/commands/bench_command.hpp"
#include "runtime/cli/commands/bundle_commands.hpp"
#include "runtime/cli/commands/cc_command.hpp"
#include "runtime/cli/commands/compile_command.hpp"
#include "runtime/cli/commands/entry_commands.hpp"
#include "runtime/cli/commands/help_command.hpp"
#include "runtime/cli/commands/key_commands.hpp"
#include "runtime/cli/commands/list_command.hpp"
#include "runtime/cli/commands/run_command.hpp"
#include "runtime/cli/commands/serve_command.hpp"
#include "runtime/cli/commands/stats_command.hpp"
#include "runtime/cli/commands/text_commands.hpp"
#include "runtime/cli/commands/upkeep_commands.hpp"
#include "runtime/cli/help/usage_problem.hpp"
#include "runtime/cli/io/last_resort.hpp"
#include "runtime/cli/io/output.hpp"
#include "runtime/cli/io/programs.hpp"
#include "runtime/cli/settings/remote_settings.hpp"
#include "runtime/cli/settings/settings.hpp"
#include "runtime/front/programs.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace hearth;
using namespace hearth::cli;

using command = std::function<int(const config&)>;

// The prefix of an argument that is taken verbatim, even if it starts with '-'.
constexpr std::string_view verbatim_mark = "=";

// All options and arguments. The given subcommand sets `run`.
struct command_line {
  given_options given;
  entry_arguments entry;
  compile_arguments compile;
  run_arguments run_action;
  std::vector<std::string> compile_words; ///< the words after `cc`
  list_arguments list;
  stats_arguments stats;
  bench_arguments bench;
  serve_arguments serve;
  bundle_arguments bundle;
  guard_arguments guard;
  graph_arguments graph;
  upkeep_arguments upkeep;
  key_arguments key;
  explain_arguments explain;
  autotune_arguments autotune;
  bool wants_help = false;             ///< the command is `help`, about:
  std::vector<std::string> help_about; ///< a command or a topic
  command run;
};

// Adds a command: its arguments, in which it sets `json`, and the function that executes it.
template <class Arguments>
CLI::App* add_command(CLI::App& app, command_line& line, const char* name, const char* help,
                      Arguments& arguments, status (*execute)(const config&, const Arguments&)) {
  auto* sub = app.add_subcommand(name, help);
  sub->callback([&line, &arguments, execute] {
    line.run = [&line, &arguments, execute](const config& settings) {
      arguments.json = line.given.json;
      return execute(settings, arguments);
    };
  });
  return sub;
}

CLI::App* add_entry_command(CLI::App& app, command_line& line, const char* name, const char* help,
                            status (*execute)(const config&, const entry_arguments&)) {
  auto* sub = add_command(app, line, name, help, line.entry, execute);
  sub->add_option("KEY", line.entry.key, "the entry's key, a text")->required();
  sub->add_option("--cache", line.entry.cache, "the named cache")->capture_default_str();
  return sub;
}

// Adds a command that stores an entry.
void add_writing_command(CLI::App& app, command_line& line, const char* name, const char* help,
                         status (*execute)(const config&, const entry_arguments&)) {
  auto* sub = add_entry_command(app, line, name, help, execute);
  sub->add_option("FILE", line.entry.file, "its content; - is stdin")->required();
  sub->add_option("--details", line.entry.details,
                  "keep these details of the key with it, a file of JSON, for explain --stored");
  sub->add_option("--ttl", line.entry.ttl, "how long it lasts, as 90s, 2h or 7d; else for ever")
      ->type_name("TIME");
}

void add_entry_commands(CLI::App& app, command_line& line) {
  auto* gets = add_entry_command(app, line, "get", "print an entry", get_entry);
  gets->add_option("-o,--output", line.entry.output, "write to FILE instead of stdout");
  add_writing_command(app, line, "insert", "store an entry that is not there yet", insert_entry);
  add_writing_command(app, line, "put", "store an entry, replacing what is there", put_entry);
  add_entry_command(app, line, "erase", "drop an entry", erase_entry);
}

void add_store_commands(CLI::App& app, command_line& line) {
  auto* lists = add_command(app, line, "list", "list a store's entries", line.list, list);
  lists->add_option("--cache", line.list.cache, "this named cache alone");
  auto* counts = add_command(app, line, "stats", "show what a store holds", line.stats, stats);
  counts->add_flag("--zero", line.stats.zero, "set the counts of compiles to zero instead");
  auto* verifies =
      add_command(app, line, "verify", "check every byte of a store", line.upkeep, verify);
  verifies->add_flag("--repair", line.upkeep.repair, "drop what is damaged");
  auto* evicts =
      add_command(app, line, "evict", "drop the oldest entries until the store is small enough",
                  line.upkeep, evict);
  evicts->add_option("--to", line.upkeep.to, "what the store may take: 0, 500M, 1.5GiB")
      ->required()
      ->type_name("SIZE");
  add_command(app, line, "clear", "drop every entry", line.upkeep, clear);
}

void add_compile_command(CLI::App& app, command_line& line) {
  auto* sub = add_command(app, line, "compile", "compile, tune and cache every kernel of a plan",
                          line.compile, compile);
  sub->add_option("PLAN", line.compile.plan, "the plan, a TOML file")->required();
  sub->add_option("--jobs", line.given.jobs, "compilers at once; one a core");
  sub->add_option("--trace", line.compile.trace, "write a Chrome trace to FILE");
  sub->add_option("--metrics", line.compile.metrics, "write counters for Prometheus to FILE");
  sub->add_option("--tune", line.compile.tune,
                  "how configurations are chosen: full, descent, cached-only or off")
      ->capture_default_str()
      ->type_name("MODE");
  sub->add_flag("--explain", line.compile.explains,
                "say of each request that is not found what is otherwise");
  sub->add_option("--tuning-tag", line.given.tuning_tag,
                  "another tag is another database of tunings ($HEARTH_TUNING_TAG)");
  auto* record = sub->add_option("--record", line.compile.record,
                                 "write a bundle to FILE that makes another host as warm");
  sub->add_option("--signing-keys", line.compile.signing_keys,
                  "sign that bundle with the first key of FILE")
      ->needs(record)
      ->type_name("FILE");
}

void add_autotune_commands(CLI::App& app, command_line& line) {
  auto* group = app.add_subcommand("autotune", "what tuning is known");
  group->require_subcommand(1);
  auto& arguments = line.autotune;
  add_command(*group, line, "list", "list the tunings of the store", arguments, list_tunings);
  auto* shows = add_command(*group, line, "show", "one tuning, as a .best_config file has it",
                            arguments, show_tuning);
  shows->add_option("NAME", arguments.name, "its name, how that begins, or its kernel")->required();
  auto* exports = add_command(*group, line, "export", "write tunings as .best_config files",
                              arguments, export_tunings);
  exports->add_option("DIR", arguments.directory, "the folder to write to")->required();
  exports->add_option("NAME", arguments.names, "these alone; all without one");
  auto* imports =
      add_command(*group, line, "import", "take .best_config files in", arguments, import_tunings);
  imports->add_option("FILE", arguments.files, "files, and folders of them")->required();
}

// The usage of a command whose words do not all go to the parser.
class own_usage final : public CLI::Formatter {
public:
  explicit own_usage(std::string forms)
      : forms_(std::move(forms)) {}
  std::string make_usage(const CLI::App*, std::string) const override { return forms_; }

private:
  std::string forms_;
};

void add_run_command(CLI::App& app, command_line& line) {
  auto& given = line.run_action;
  auto* sub = app.add_subcommand("run", "run any command as a cached action");
  sub->formatter(
      std::make_shared<own_usage>("Usage: hearth run [OPTIONS] -- COMMAND [ARGUMENT...]\n"));
  sub->add_option("--in", given.inputs, "files and folders that it reads")->type_name("FILE ...");
  sub->add_option("--out", given.outputs, "files that it makes")->type_name("FILE ...");
  sub->add_option("--env", given.variables, "variables that it gets, and that are in its key")
      ->type_name("NAME ...");
  sub->add_option("--toolchain", given.toolchains, "compilers that it starts by itself")
      ->type_name("NAME ...");
  sub->add_option("--depfile", given.dependency_file, "it writes there what it read, as for make");
  sub->add_option("--timeout", given.timeout, "kill it then: 500ms, 90s, 5min; status 124")
      ->type_name("TIME");
  sub->add_option("--memory", given.memory, "address space of each of its processes")
      ->type_name("SIZE");
  sub->add_option("--cpu", given.cpu, "processor time of each of its processes")->type_name("TIME");
  sub->add_option("--trace", given.trace, "write a Chrome trace to FILE");
  sub->add_option("--metrics", given.metrics, "write counters for Prometheus to FILE");
  sub->add_flag("--keep-failures", given.keep_failures, "keep what it came to when it fails, too");
  sub->add_flag("--no-cache", given.no_cache, "run it whatever is there, and keep nothing");
  sub->add_flag("--strict", given.strict, "let it see declared inputs alone of this folder");
  sub->add_flag("--explain", given.says_why, "if it is not found, say on stderr what is otherwise");
  sub->add_flag("--placeholders", given.placeholders, "expand {directory}, {in:F} and {out:F}");
  sub->callback([&line] {
    line.run = [&line](const config& settings) -> int {
      if (line.run_action.explains)
        return explain_action(settings, line.run_action, line.given.json);
      return hearth::cli::run_action(settings, line.run_action);
    };
  });
}

void add_compiler_command(CLI::App& app, command_line& line) {
  auto* sub = app.add_subcommand("cc", "compile, or find the result: cc gcc -c a.c -o a.o");
  sub->formatter(
      std::make_shared<own_usage>("Usage: hearth cc [OPTIONS] COMPILER [ARGUMENT...]\n"));
  sub->add_flag_callback(
      "--explain", [] {}, "run nothing: say whether the result would be found, or why not");
  sub->callback([&line] {
    line.run = [&line](const config& settings) {
      return compile_cached(settings, line.compile_words);
    };
  });
}

void add_bench_command(CLI::App& app, command_line& line) {
  auto* sub = app.add_subcommand("bench", "measure Hearth side by side with its peers");
  sub->add_option("NAME", line.bench.rows, "the rows whose names start so; all without one");
  sub->add_flag("--list", line.bench.list, "list the rows and what they do");
  sub->add_option("--dir", line.bench.directory, "work below this directory ($TMPDIR, /tmp)");
  sub->add_option("--rounds", line.bench.rounds, "turns of each contender; 7");
  sub->add_option("--only", line.bench.only, "this contender's turns alone, without ratios");
  sub->add_flag("--cpu", line.bench.processor_time, "measure processor time");
  sub->add_flag("--smoke", line.bench.smoke, "tiny data, one round: whether it runs at all");
  sub->callback([&line] {
    line.run = [&line](const config&) { return bench(line.bench, line.given.json); };
  });
}

void add_serve_command(CLI::App& app, command_line& line) {
  auto& given = line.serve;
  auto* sub = app.add_subcommand(
      "serve", "serve the store to clients of Redis, of HTTP caches and of ccache");
  sub->callback([&line] {
    line.run = [&line](const config& settings) {
      line.serve.given = line.given;
      return serve(settings, line.serve);
    };
  });
  auto* file =
      sub->add_option("FILE", given.file, "the server's settings, a TOML file (docs/serve.md)");
  sub->add_option("--listen", given.listen,
                  "without FILE: resp=HOST:PORT, http=..., crsh=unix:/PATH")
      ->type_name("PROTOCOL=ADDRESS");
  sub->add_option("--role", given.role,
                  "without FILE: what clients may do: reader, writer (the default on this host "
                  "alone), admin")
      ->excludes(file); // which says it for each listener
  sub->add_flag("--hold-misses", given.hold_misses,
                "without FILE: let one client compile what several miss")
      ->excludes(file);
  sub->add_flag("--check", given.check,
                "check the settings and the files that they name, and serve nothing");
  sub->add_flag("--hash-password", given.hash_password,
                "print the hash of the password on standard input, for the users file");
  sub->add_flag("--new-token", given.new_token, "print a new token and its hash");
}

void add_text_commands(CLI::App& app, command_line& line) {
  auto* guards = add_command(app, line, "guard", "whether a guard holds: true (0) or false (1)",
                             line.guard, guard);
  guards->add_option("EXPR", line.guard.expression, "the guard, Python text")
      ->required()
      ->transform([](const std::string& marked) { return marked.substr(verbatim_mark.size()); });
  guards->add_option("NAME=INT", line.guard.symbols, "values of its symbols");
  auto* graphs = add_command(app, line, "graph", "the normal text of a TorchScript graph",
                             line.graph, graph_text);
  graphs->add_option("FILE", line.graph.file, "the graph; - is stdin")->required();
}

// The commands of the program hearth-simulation, which takes the whole command line: it declares
// their options.
constexpr std::pair<const char*, const char*> simulation_commands[] = {
    {"script", "run scripted message tests"},
    {"simulate", "the whole runtime under random work and faults"},
};

bool is_simulation_command(std::string_view name) {
  return std::any_of(std::begin(simulation_commands), std::end(simulation_commands),
                     [name](const auto& one) { return one.first == name; });
}

void add_bundle_commands(CLI::App& app, command_line& line) {
  auto* bundles = app.add_subcommand("bundle", "carry artifacts between machines in a file");
  bundles->require_subcommand(1);
  bundles->fallthrough();
  auto* exports = add_command(*bundles, line, "export", "write a store's entries into a bundle",
                              line.bundle, export_bundle);
  auto* imports = add_command(*bundles, line, "import", "insert what a bundle holds", line.bundle,
                              import_bundle);
  auto* lists =
      add_command(*bundles, line, "list", "list what a bundle holds", line.bundle, list_bundle);
  exports->add_option("FILE", line.bundle.file, "the bundle; - is stdout")->required();
  exports->add_option("KEY", line.bundle.keys, "these entries alone");
  exports->add_option("--cache", line.bundle.cache, "of this named cache alone");
  exports->add_option("--signing-keys", line.bundle.signing_keys, "sign with the first key of FILE")
      ->type_name("FILE");
  for (auto* reads : {imports, lists}) {
    reads->add_option("FILE", line.bundle.file, "the bundle; - is stdin")->required();
    reads
        ->add_option("--signing-keys", line.bundle.signing_keys,
                     "it must be signed by a key of FILE")
        ->type_name("FILE");
  }
}

void add_key_commands(CLI::App& app, command_line& line) {
  auto* keys =
      add_command(app, line, "key", "the structural key of details in JSON", line.key, show_key);
  keys->add_option("DETAILS", line.key.details, "the details, a file of JSON; - is stdin")
      ->required();
  keys->add_flag("--debug", line.key.debug, "a line a field before the key");
  auto* explains = add_command(app, line, "explain", "the fields in which two keys differ",
                               line.explain, explain_keys);
  explains->formatter(std::make_shared<own_usage>(
      "Usage: hearth explain [OPTIONS] A B\n"
      "       hearth explain [OPTIONS] A --stored\n"
      "       hearth explain --last\n"
      "       hearth explain [OPTIONS of run] -- COMMAND [ARGUMENT...]\n"));
  explains->add_option("A", line.explain.first, "the details of one, a file of JSON");
  explains->add_option("B", line.explain.second, "the details of the other");
  explains->add_flag("--stored", line.explain.stored,
                     "compare with the nearest key that was stored with --details");
  explains->add_flag("--last", line.explain.last,
                     "why the last run of compile or run that missed something did");
  explains->add_option("--cache", line.explain.cache, "the named cache")->capture_default_str();
}

void add_help_command(CLI::App& app, command_line& line) {
  auto* sub = app.add_subcommand("help", "a summary, a command's options, or a topic");
  sub->add_option("ABOUT", line.help_about, "a command or a topic");
  sub->callback([&line] { line.wants_help = true; });
}

// The simulator's program has the options of its commands.
int show_help(const CLI::App& app, const std::vector<std::string>& about) {
  if (about.size() == 1 && is_simulation_command(about.front()))
    return become_program("hearth-simulation", {about.front(), "--help"}, "hearth-simulation");
  return help(app, about);
}

void describe(CLI::App& app, command_line& line) {
  app.set_version_flag("--version", "hearth " + std::string(version()));
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--store", line.given.store, "the store's directory ($HEARTH_STORE)");
  app.add_option("--config", line.given.config_file, "settings from a TOML file ($HEARTH_CONFIG)");
  app.add_option("--disk-budget", line.given.disk_budget, "size limit of the store, as 10GiB");
  app.add_option("--memory-budget", line.given.memory_budget, "size limit of the memory tier");
  app.add_option("--patience", line.given.patience,
                 "how long to wait for another process's compile; 5min");
  app.add_option("--keep-details", line.given.keep_details,
                 "keep what keys are made of, so that a miss can say why; yes")
      ->type_name("yes|no");
  app.add_option("--watch", line.given.watch, "see which files a command reads; yes")
      ->type_name("yes|no");
  for (const auto& one : remote_settings())
    app.add_option_function<std::string>(
           std::string(one.option), [](const std::string&) {}, std::string(one.help))
        ->type_name(std::string(one.type))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group("Remote tier");
  app.add_flag("--json", line.given.json, "print JSON");
  app.add_flag("--quiet", line.given.quiet, "show no progress");
  app.add_flag("--verbose", line.given.verbose, "log more, to stderr");
  add_compile_command(app, line);
  add_run_command(app, line);
  add_compiler_command(app, line);
  add_entry_commands(app, line);
  add_store_commands(app, line);
  add_autotune_commands(app, line);
  add_bench_command(app, line);
  add_serve_command(app, line);
  add_text_commands(app, line);
  for (const auto& [name, help] : simulation_commands)
    app.add_subcommand(name, help);
  add_key_commands(app, line);
  add_bundle_commands(app, line);
  add_help_command(app, line);
}

// The index of the command among the arguments; their count when there is none.
std::size_t command_place(const CLI::App& app, const std::vector<std::string>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].starts_with('-')) return i;
    const auto* option = app.get_option_no_throw(all[i]); // the next word is its value
    if (option && option->get_items_expected_max() > 0) ++i;
  }
  return all.size();
}

// Takes the compiler and what is behind it off. Before it stand options of Hearth, and `--explain`.
void take_compile(const CLI::App& app, std::size_t begin, std::vector<std::string>& all,
                  command_line& line) {
  auto& words = line.compile_words;
  for (auto at = begin; at < all.size();) {
    if (all[at] == "--explain") {
      words.assign(1, all[at]);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
      continue;
    }
    const auto name = all[at].substr(0, all[at].find('='));
    const auto* const option = app.get_option_no_throw(name);
    if (!all[at].starts_with('-') || !option) {
      words.insert(words.end(), all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
      return all.resize(at);
    }
    const bool has_value = name.size() < all[at].size();
    at += option->get_items_expected_max() > 0 && !has_value ? 2 : 1;
  }
}

// The arguments in reverse order, as the parser expects them. The word after the command `guard` is
// marked verbatim; the words after `--` of the command `run` do not go to the parser. `explain ...
// -- COMMAND` takes the options of `run`.
std::vector<std::string> arguments_for(const CLI::App& app, std::vector<std::string> all,
                                       command_line& line) {
  const auto place = command_place(app, all);
  if (place < all.size() && all[place] == "explain" &&
      std::find(all.begin(), all.end(), "--") != all.end()) {
    line.run_action.explains = true;
    all[place] = "run";
  }
  const std::string_view name = place < all.size() ? std::string_view(all[place]) : "";
  const auto next = place + 1;
  if (name == "guard" && next < all.size() && all[next] != "--help" && all[next] != "-h")
    all[next].insert(0, verbatim_mark);
  if (name == "cc") take_compile(app, next, all, line);
  if (name == "run") {
    const auto mark = std::find(all.begin() + static_cast<std::ptrdiff_t>(next), all.end(), "--");
    if (mark != all.end()) line.run_action.command.assign(mark + 1, all.end());
    all.erase(mark, all.end());
  }
  std::reverse(all.begin(), all.end());
  return all;
}

// The options of the remote tiers in the order in which they were given: each `--remote` begins a
// tier.
std::vector<std::pair<std::string, std::string>> remote_options_in_order(const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> all;
  std::map<const CLI::Option*, std::size_t> taken;
  for (const auto* option : app.parse_order())
    for (const auto& one : remote_settings())
      if (option->check_name(std::string(one.option)))
        all.emplace_back(one.key, option->results()[taken[option]++]);
  return all;
}

// Reports an error that occurs before a command begins. The status is 125 for `run`, whose other
// statuses are those of the command that it runs.
int refuse(const error& why, bool is_run) {
  const int ending = report(why);
  return is_run ? static_cast<int>(run_failed) : ending;
}

int run(int count, char** arguments) {
  command_line line;
  CLI::App app("Hearth: a compile cache of actors", "hearth");
  describe(app, line);
  const std::vector<std::string> given(arguments + 1, arguments + count);
  const auto place = command_place(app, given);
  const std::string_view name = place < given.size() ? std::string_view(given[place]) : "";
  if (is_simulation_command(name))
    return become_program("hearth-simulation", given, "hearth-simulation");
  const bool is_run = name == "run" || name == "cc";
  if (is_run) set_failure_status(run_failed);
  auto words = arguments_for(app, given, line);
  hide_passwords(count, arguments);
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& wanted) { // --help, --version
    return app.exit(wanted);
  } catch (const CLI::ParseError& problem) {
    return refuse({errc::invalid_argument, usage_problem(app, problem)}, is_run);
  }
  line.given.remote = remote_options_in_order(app);
  if (line.wants_help) return show_help(app, line.help_about);
  if (line.given.quiet) hide_progress();
  auto settings = resolve(line.given, process_environment);
  if (!settings && !line.compile_words.empty()) return front::become_compiler(line.compile_words);
  if (!settings) return refuse(settings.error(), is_run);
  // Without --verbose, `run` prints only the action's own output.
  if (!is_run || line.given.verbose)
    settings->log = stderr_log(line.given.verbose ? log_level::debug : log_level::warning);
  settings->guard_sigbus = true;
  if (app.got_subcommand("compile")) {
    auto tag = tuning_tag(line.given, process_environment);
    if (!tag) return refuse(tag.error(), is_run);
    line.compile.tag = std::move(*tag);
  }
  return line.run(*settings);
}

} // namespace

int main(int count, char** arguments) { return run_program(run, count, arguments); }
