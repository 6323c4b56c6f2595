#include "runtime/cli/commands/cc_command.hpp"

#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/cli/commands/run_command.hpp"
#include "runtime/cli/io/programs.hpp"
#include "runtime/cli/remote_pause.hpp"
#include "runtime/cli/signal_watch.hpp"
#include "runtime/front/compile_counts.hpp"
#include "runtime/front/compile_line.hpp"
#include "runtime/front/programs.hpp"
#include "runtime/handle/runtime.hpp"

#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <optional>

namespace hearth::cli {
namespace {

using front::compile_end;

error no_compiler() {
  return {errc::invalid_argument, "there is no compiler: write 'hearth cc gcc -c a.c'"};
}

status explain_compile(const config& settings, const std::vector<std::string>& words) {
  if (words.empty()) return report(no_compiler());
  const auto asked = front::action_of_compile(words);
  if (asked) return explain(settings, *asked, false);
  const auto& why = asked.error();
  const auto argument = why.argument.empty() ? "" : fmt::format(" ({})", printable(why.argument));
  return print(fmt::format("not cached: {}{}\n", launcher::reason_text(why.why), argument), no);
}

// A compile as `explain --last` names it: "gcc a.o".
std::string name_of(const std::vector<std::string>& words, const action& asked) {
  const auto output = asked.outputs.empty() ? "" : " " + asked.outputs.front().string();
  return words.front() + output;
}

int compile_with_runtime(const config& settings, const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--explain")
    return explain_compile(settings, {words.begin() + 1, words.end()});
  if (words.empty()) return report(no_compiler());
  if (front::is_disabled()) return front::become_compiler(words);
  auto asked = front::action_of_compile(words);
  if (!asked) {
    front::count_compile(settings.store, asked.error().why);
    return front::become_compiler(words);
  }
  asked->begun_ns = program_begin_ns();
  const auto become_compiler_by = [&](compile_end how) {
    front::count_compile(settings.store, how);
    return front::become_compiler(words);
  };
  const signal_watch signals;
  auto host = settings_of_one_run(settings);
  auto pauses = pause_remotes(host);
  std::optional<action_outcome> outcome;
  {
    runtime rt(host);
    const auto actions = action_cache::open(rt);
    if (!actions) return become_compiler_by(compile_end::trouble);
    auto ran = actions->run(*asked, call_options().stopped_by(signals.token()));
    tell_of_remotes(pauses, rt);
    if (signals.signal() != 0) return run_signalled + signals.signal();
    if (!ran) return become_compiler_by(compile_end::trouble);
    outcome = std::move(*ran);
    keep_miss(rt, host, name_of(words, *asked), *outcome);
    if (settings.log && !outcome->problem.empty())
      settings.log(log_level::info, "the result was not kept: " + outcome->problem);
  }
  if (!outcome->succeeded()) return become_compiler_by(compile_end::failed);
  if (front::has_to_run_plainly(*outcome)) return become_compiler_by(compile_end::on_terminal);
  if (!materialize_outputs(*outcome, asked->directory, os::replacement::removing_first))
    return become_compiler_by(compile_end::trouble); // it says what is wrong with its outputs
  front::count_compile(settings.store,
                       !outcome->found               ? compile_end::miss
                       : settings.remote.url.empty() ? compile_end::hit
                                                     : compile_end::hit_elsewhere,
                       outcome->found ? outcome->time_taken_ns : 0);
  if (!outcome->problem.empty()) front::count_compile(settings.store, compile_end::not_kept);
  // A compiler's status does not depend on where its messages go.
  (void)std::fwrite(outcome->out.data(), 1, outcome->out.size(), stdout);
  (void)std::fwrite(outcome->err.data(), 1, outcome->err.size(), stderr);
  return outcome->status;
}

} // namespace

// Where a thread or memory is missing, the compiler runs as if nothing was before it.
int compile_cached(const config& settings, const std::vector<std::string>& words) {
  try {
    return compile_with_runtime(settings, words);
  } catch (const std::exception&) {
    if (words.empty() || words.front() == "--explain") throw;
    front::count_compile(settings.store, compile_end::trouble);
    return front::become_compiler(words);
  }
}

} // namespace hearth::cli
