#include "runtime/cli/commands/run_command.hpp"

#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/cli/io/chrome_trace.hpp"
#include "runtime/cli/io/files.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/metrics_file.hpp"
#include "runtime/cli/io/miss_text.hpp"
#include "runtime/cli/io/output.hpp"
#include "runtime/cli/io/programs.hpp"
#include "runtime/cli/settings/settings.hpp"
#include "runtime/cli/signal_watch.hpp"
#include "runtime/handle/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace hearth::cli {
namespace {

int failed(const error& why) {
  report(why);
  return run_failed;
}

// Reports why the command was not run; returns the status.
int not_run(const error& why, const signal_watch& signals, const config& settings) {
  if (signals.signal() != 0) return run_signalled + signals.signal();
  if (const auto missing = missing_worker(settings)) return failed(*missing);
  report(why);
  if (why.code() == errc::program_not_found) return run_not_found;
  if (why.code() == errc::program_refused) return run_not_executable;
  return run_failed;
}

bool pass_on_to_stderr(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stderr) == text.size() &&
         std::fflush(stderr) == 0;
}

// Prints what the command printed; returns its status.
int finish(const action& asked, const action_outcome& outcome) {
  if (!write_stdout(outcome.out)) {
    if (const auto why = unwritten(); why == no_reader) return why;
    return run_failed;
  }
  if (!pass_on_to_stderr(outcome.err))
    return failed({errc::io, "cannot pass on what the command printed"});
  if (outcome.timed_out) {
    const auto what = outcome.found ? outcome.problem : "was killed at its timeout";
    report({errc::timeout, asked.command.front() + " " + what});
    return run_timed_out;
  }
  return outcome.signal != 0 ? run_signalled + outcome.signal : outcome.status;
}

// Writes the trace and the metrics, if requested.
expected<void> write_reports(const run_arguments& arguments, const runtime& rt,
                             const action_cache& actions) {
  if (arguments.trace)
    if (auto written = write_file(*arguments.trace, chrome_trace(actions.trace())); !written)
      return written;
  return write_metrics(rt, arguments.metrics);
}

// Tells why nothing is kept, once for each store and reason: builds run many commands.
void say_once(runtime& rt, const std::string& problem) {
  auto facts = cache_memo::open(rt);
  const auto key = "told: " + problem;
  if (facts && facts->load(key)) return;
  if (facts) facts->save(key, "1");
  say(fmt::format("hearth: results are not kept: {}\n", problem));
}

constexpr std::string_view no_command =
    "there is no command: write it behind --, as in 'hearth run --in a.cpp --out a.o -- g++ -c "
    "a.cpp'";

// Tells a person who declares everything what the command missed.
void tell_undeclared(const std::vector<std::string>& names) {
  if (names.empty()) return;
  constexpr std::size_t most = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  say(fmt::format("hearth: looked for, but not declared: {}; name with --in what it may read\n",
                  text));
}

std::string explanation_text(const action_explanation& why) {
  std::string text;
  if (why.would_be_found)
    text = "hit: a result is stored, and nothing that it depends on has changed\n";
  else if (why.stored.empty())
    text = "miss: no result of this command with these declared inputs is stored\n";
  else
    text = "miss: something changed since the stored results were made\n";
  for (const auto& one : why.stored)
    if (!one.change.empty()) text += "  " + printable(one.change) + "\n";
  const auto shown = std::find_if(why.stored.begin(), why.stored.end(), [&](const auto& one) {
    return !why.would_be_found || one.change.empty();
  });
  if (shown == why.stored.end() || shown->read.empty()) return text;
  text += "what the command looked at:\n";
  for (const auto& name : shown->read)
    text += "  " + printable(name) + "\n";
  return text;
}

std::string explanation_json(const action_explanation& why) {
  auto stored = nlohmann::json::array();
  for (const auto& one : why.stored)
    stored.push_back({{"change", one.change}, {"read", one.read}});
  return dump({{"found", why.would_be_found}, {"stored", std::move(stored)}});
}

// Says why the command was run, if that is asked for, and keeps it for `explain --last`.
void tell_miss(runtime& rt, const config& settings, const run_arguments& arguments,
               const action_outcome& outcome) {
  if (outcome.found || arguments.no_cache) return;
  const auto& what = arguments.command.front();
  keep_miss(rt, settings, what, outcome);
  if (arguments.says_why) say("hearth: " + miss_text(printable(what), outcome.missed));
}

} // namespace

void keep_miss(runtime& rt, const config& settings, const std::string& what,
               const action_outcome& outcome) {
  if (outcome.found || !settings.keep_key_details) return;
  // Nobody waits for it: where it cannot be kept, `explain --last` knows of an earlier run.
  if (const auto keys = key_history::open(rt)) (void)keys->set_last({{what, outcome.missed}});
}

status explain(const config& settings, const action& asked, bool as_json) {
  auto host = settings_of_one_run(settings);
  runtime rt(host);
  const auto actions = action_cache::open(rt);
  if (!actions) return report(actions.error());
  const auto why = actions->explain(asked);
  if (!why) return report(why.error());
  return print(as_json ? explanation_json(*why) : explanation_text(*why),
               why->would_be_found ? yes : no);
}

status explain_action(const config& settings, const run_arguments& arguments, bool as_json) {
  if (arguments.command.empty()) return report({errc::invalid_argument, std::string(no_command)});
  const auto asked = action_of(arguments);
  if (!asked) return report(asked.error());
  return explain(settings, *asked, as_json);
}

config settings_of_one_run(config settings) {
  settings.jobs = 1;
  settings.scheduler_threads = 1; // else there is one for each core
  settings.compile_threads = 1;
  settings.memory_shards = 1;
  settings.store_syncs_when_closed = false; // it can be run again
  return settings;
}

int run_action(const config& settings, const run_arguments& arguments) {
  if (arguments.command.empty()) return failed({errc::invalid_argument, std::string(no_command)});
  auto asked = action_of(arguments);
  if (!asked) return failed(asked.error());
  asked->begun_ns = program_begin_ns();
  const signal_watch signals;
  auto host = settings_of_one_run(settings);
  host.trace = arguments.trace.has_value();
  // The command's own stderr is passed on as it is, so only a person at a terminal is told.
  if (shows_progress()) host.waits = [](std::string_view text) { say(fmt::format("{}\n", text)); };
  runtime rt(host);
  const auto actions = action_cache::open(rt);
  if (!actions) return failed(actions.error());
  const auto outcome = actions->run(*asked, call_options().stopped_by(signals.token()));
  if (!outcome) return not_run(outcome.error(), signals, settings);
  if (settings.log && !outcome->problem.empty())
    settings.log(log_level::info, "the result was not kept: " + outcome->problem);
  if (outcome->has_unknown_inputs) say_once(rt, outcome->problem);
  tell_undeclared(outcome->undeclared);
  const auto put_out =
      outcome->succeeded() ? materialize_outputs(*outcome, asked->directory) : expected<void>();
  tell_miss(rt, settings, arguments, *outcome);
  const int status = put_out ? finish(*asked, *outcome) : failed(put_out.error());
  if (auto written = write_reports(arguments, rt, *actions); !written) {
    report(written.error());
    return status != 0 ? status : run_failed;
  }
  return status;
}

} // namespace hearth::cli
