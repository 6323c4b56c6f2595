#include "runtime/orchestrator/compile_plan.hpp"

#include "runtime/caches/autotune/tuning_caches.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/call_trace.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/orchestrator/plan_code.hpp"
#include "runtime/orchestrator/plan_recording.hpp"
#include "runtime/orchestrator/tune_requests.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

namespace hearth::orchestrator {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

request_report report_of(const plan& work, const plan_request& request) {
  const auto& kernel = work.kernels[request.kernel];
  request_report report;
  report.name = kernel.name;
  for (std::size_t i = 0; i < kernel.symbols.size(); ++i)
    report.sizes.emplace_back(kernel.symbols[i], kernel.shapes[request.shape][i]);
  report.guard = request.guard;
  if (request.guard) report.guard_text = kernel.guards[*request.guard].text();
  return report;
}

// What a plan has achieved.
struct plan_progress {
  std::vector<request_report> reports; // of all requests, in plan order
  std::vector<bool> is_done;           // the requests
  std::size_t done = 0;
  std::set<std::size_t> again;   // entries whose requests have to be made anew
  std::set<std::size_t> delayed; // entries that had to be so in an earlier round
};

// The requests of an entry that are not done yet.
std::vector<std::size_t> open_requests(const plan& work, std::size_t entry,
                                       const plan_progress& made) {
  std::vector<std::size_t> open;
  for (const auto request : work.entries[entry].requests)
    if (!made.is_done[request]) open.push_back(request);
  return open;
}

// One round of a plan: an actor requests the entries from the tuner and, when an entry is done, the
// other shapes that it serves.
struct session {
  const plan& work;
  const std::vector<tune_request_ptr>& entries; ///< in the plan's order; null: not of this round
  const progress_callback& progress;
  kernel_tuner_actor tuner;
  std::shared_ptr<plan_progress> made;
  std::size_t open; ///< requests of this round
  /// Owned by the session, which the actor's pending requests hold: it delivers `closed` when the
  /// actor ends early.
  completion<hearth::done> finished;
};

using session_ptr = std::shared_ptr<session>;
using self_pointer = caf::event_based_actor*;

// The last one ends the round.
void close_requests(self_pointer self, const session_ptr& run, std::size_t count) {
  run->open -= count;
  if (run->open > 0) return;
  run->finished.deliver(hearth::done{});
  self->quit();
}

void complete_request(self_pointer self, const session_ptr& run, std::size_t request,
                      const tune_reply& reply) {
  auto& made = *run->made;
  made.is_done[request] = true;
  auto& report = made.reports[request];
  report.result = reply;
  ++made.done;
  if (run->progress) run->progress(made.done, made.reports.size(), report);
  close_requests(self, run, 1);
}

tune_reply failed_reply(const caf::error& why) {
  tune_reply reply;
  reply.problem = from_caf(why).text();
  return reply;
}

template <class Next>
void ask(self_pointer self, const session_ptr& run, const tune_request_ptr& request, Next next) {
  self->request(run->tuner, caf::infinite, verb::tune_v, request)
      .then([=](const tune_reply& reply) { next(reply); },
            [=](const caf::error& why) { next(failed_reply(why)); });
}

bool is_here(tune_status status) {
  return status == tune_status::memory || status == tune_status::disk;
}

// When this run fetched an entry from the remote tier, all shapes that it serves count as remote
// hits, although the later requests find it in memory or on disk.
tune_reply as_found_first(tune_reply reply, tune_status first) {
  if (first == tune_status::remote && is_here(reply.status)) reply.status = tune_status::remote;
  return reply;
}

// What another process has made while this one looked.
tune_reply as_waited(tune_reply reply, bool is_delayed) {
  if (is_delayed && is_here(reply.status)) reply.status = tune_status::waited;
  return reply;
}

// The observations have to be looked at again: in the next round.
void delay(self_pointer self, const session_ptr& run, std::size_t entry, std::size_t requests) {
  run->made->again.insert(entry);
  close_requests(self, run, requests);
}

// Requests the other shapes that the entry serves; they fail when the entry failed.
void ask_for_other_shapes(self_pointer self, const session_ptr& run, std::size_t entry,
                          const std::vector<std::size_t>& requests, const tune_reply& first) {
  for (const auto request : requests) {
    if (first.status == tune_status::failed) {
      complete_request(self, run, request, first);
      continue;
    }
    ask(self, run,
        for_shape(run->entries[entry], run->work, run->work.requests[request], first.observed),
        [=, found = first.status](const tune_reply& reply) {
          if (reply.again) return delay(self, run, entry, 1);
          complete_request(self, run, request, as_found_first(reply, found));
        });
  }
}

void start_entry(self_pointer self, const session_ptr& run, std::size_t entry) {
  auto others = open_requests(run->work, entry, *run->made);
  const auto first = others.front();
  others.erase(others.begin());
  auto asked = run->entries[entry];
  if (first != run->work.entries[entry].requests.front())
    asked = for_shape(asked, run->work, run->work.requests[first], {});
  ask(self, run, asked, [=](const tune_reply& reply) {
    if (reply.again) return delay(self, run, entry, others.size() + 1);
    const auto found = as_waited(reply, run->made->delayed.contains(entry));
    complete_request(self, run, first, found);
    if (!others.empty()) ask_for_other_shapes(self, run, entry, others, found);
  });
}

void start(self_pointer self, session_ptr run) {
  for (std::size_t entry = 0; entry < run->entries.size(); ++entry)
    if (run->entries[entry]) start_entry(self, run, entry);
}

expected<void> run_session(engine::runtime_core& core, const plan& work,
                           const std::vector<tune_request_ptr>& entries,
                           const progress_callback& progress,
                           const std::shared_ptr<plan_progress>& made) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i]) open += open_requests(work, i, *made).size();
  if (open == 0) return {};
  const auto all_done = std::make_shared<completion_state<done>>();
  {
    const auto inside = core.enter_system();
    if (!inside) return fail(inside.error());
    auto run = std::make_shared<session>(
        session{work, entries, progress, core.tuner(), made, open, completion<done>(all_done)});
    const engine::logger_guard guard;
    core.system().spawn(start, std::move(run));
  }
  const auto finished = all_done->wait();
  if (!finished) return fail(finished.error());
  return {};
}

// Makes the requests of these entries anew.
using entry_maker =
    std::function<expected<std::vector<tune_request_ptr>>(const std::vector<std::size_t>& entries)>;

// Runs the plan in rounds: the requests of an entry are made anew when other processes have learnt
// what its compiles read.
expected<std::vector<request_report>> run_rounds(engine::runtime_core& core, const plan& work,
                                                 std::vector<tune_request_ptr> entries,
                                                 const entry_maker& make,
                                                 const progress_callback& progress) {
  constexpr int max_rounds = 64;
  auto made = std::make_shared<plan_progress>();
  for (const auto& request : work.requests)
    made->reports.push_back(report_of(work, request));
  made->is_done.resize(work.requests.size());
  for (int round = 0; round < max_rounds; ++round) {
    if (auto run = run_session(core, work, entries, progress, made); !run) return fail(run.error());
    const std::vector<std::size_t> again(made->again.begin(), made->again.end());
    if (again.empty()) break;
    made->delayed.merge(made->again);
    made->again.clear();
    auto anew = make(again);
    if (!anew) return fail(anew.error());
    entries.assign(entries.size(), nullptr);
    for (std::size_t i = 0; i < again.size(); ++i)
      entries[again[i]] = std::move((*anew)[i]);
  }
  for (auto& report : made->reports)
    if (report.result.status == tune_status::failed && report.result.problem.empty())
      report.result.problem = "the files that it reads change again and again";
  return std::move(made->reports);
}

// The actor's answer, or an empty `T` when there is none.
template <class T, class Handle, class... Message>
T answer_or_nothing(engine::runtime_core& core, const Handle& actor, const Message&... message) {
  return engine::ask_actor<T>(core, actor, message...).value_or(T{});
}

// --- the session of tunings ----------------------------------------------------------------------

// Begins no session without a remote tier, which holds the bundles: the code hash reads all
// sources.
bundle_session begin_session(engine::runtime_core& core, const plan& work,
                             const tuning_scope& scope) {
  const tuning_caches caches(core);
  if (!core.has_remote() || !caches.local || !caches.bundles) return {};
  const auto name = bundle_key(code_hash_of(work), scope.backend_hash);
  const auto key_in_bundle = key::tuple({key(bundle_id), key(name)});
  return answer_or_nothing<bundle_session>(core, core.bundler(), verb::begin_v,
                                           cache_key(caches.bundles, key_in_bundle.encoded()),
                                           caches.local);
}

// Runs the entries within a session; an error abandons it.
expected<std::vector<request_report>>
run_tuned(engine::runtime_core& core, const plan& work, const planned_tuning& tuning,
          const entry_maker& make, const progress_callback& progress, plan_report& report) {
  report.bundle = begin_session(core, work, tuning.scope);
  const auto id = report.bundle.id;
  if (id == 0) return run_rounds(core, work, tuning.entries, make, progress);
  const auto make_noted = [&](const std::vector<std::size_t>& entries) {
    return make(entries).map([id](auto made) { return noted_for(std::move(made), id); });
  };
  auto reports = run_rounds(core, work, noted_for(tuning.entries, id), make_noted, progress);
  if (reports)
    report.bundled = answer_or_nothing<bundle_end>(core, core.bundler(), verb::finish_v, id);
  else
    caf::anon_send(core.bundler(), verb::abandon_v, id);
  return reports;
}

// The text of a request, as the misses of a run name it.
std::string name_of(const request_report& request) {
  auto name = request.name;
  for (const auto& [symbol, size] : request.sizes)
    name += " " + symbol + "=" + std::to_string(size);
  return name;
}

// Says of each entry that was made why it was not found, and keeps what its key is made of.
void explain_misses(const key_history& keys, const plan& work,
                    const std::vector<entry_origin>& origins,
                    std::vector<request_report>& requests) {
  std::vector<explained_miss> misses;
  for (std::size_t i = 0; i < work.entries.size(); ++i) {
    auto& request = requests[work.entries[i].requests.front()];
    const auto status = request.result.status;
    if (status == tune_status::memory || status == tune_status::disk) continue;
    const auto& origin = origins[i];
    if (status == tune_status::compiled || status == tune_status::failed) {
      const auto miss = keys.explain(origin.subject, origin.shown);
      if (miss) request.missed = lines_of(*miss);
      if (request.missed.empty()) request.missed = origin.changes;
      misses.push_back({name_of(request), request.missed});
    }
    if (status != tune_status::failed) (void)keys.note(origin.subject, origin.shown);
  }
  if (!misses.empty()) (void)keys.set_last(std::move(misses));
}

bool is_hit(tune_status status) {
  return status == tune_status::memory || status == tune_status::disk ||
         status == tune_status::remote;
}

void count(const plan& work, plan_report& report) {
  for (const auto& request : report.requests) {
    report.hits += is_hit(request.result.status);
    report.failures += request.result.status == tune_status::failed;
  }
  for (const auto& entry : work.entries) {
    const auto& first = report.requests[entry.requests.front()].result;
    if (is_hit(first.status)) report.time_saved_ns += first.time_taken_ns;
  }
}

} // namespace

expected<plan_report> compile_plan(runtime& rt, const plan& work, const tuning_options& tuning,
                                   const progress_callback& progress) {
  auto& core = internals::core(rt);
  if (auto no = core.refusal()) return fail(*no);
  const auto start_ns = now_ns();
  const auto before = answer_or_nothing<broker_stats>(core, core.broker(), verb::stats_v);
  auto facts = cache_memo::open(rt);
  if (!facts) return fail(facts.error());
  auto actions = rt.open("actions");
  if (!actions) return fail(actions.error());
  const planning_ports ports{core, std::move(*actions),
                             std::make_shared<cache_memo>(std::move(*facts))};
  std::vector<std::size_t> all(work.entries.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto planned = make_tune_requests(ports, work, tuning, all);
  if (!planned) return fail(planned.error());
  const entry_maker make = [&](const std::vector<std::size_t>& entries) {
    auto anew = ports;
    anew.asks_fleet = true;
    return make_tune_requests(anew, work, tuning, entries).map([](planned_tuning made) {
      return std::move(made.entries);
    });
  };
  plan_report result;
  auto reports = tuning.mode == tune_mode::off
                     ? run_rounds(core, work, planned->entries, make, progress)
                     : run_tuned(core, work, *planned, make, progress, result);
  if (!reports) return fail(reports.error());
  result.requests = std::move(*reports);
  if (tuning.recording)
    if (auto noted = record_plan(ports, work, tuning, *tuning.recording); !noted)
      return fail(noted.error().within("the plan ran, but cannot be recorded"));
  if (core.settings().keep_key_details)
    if (const auto keys = key_history::open(rt); keys)
      explain_misses(*keys, work, planned->origins, result.requests);
  count(work, result);
  const auto after = answer_or_nothing<broker_stats>(core, core.broker(), verb::stats_v);
  result.compiler_runs = after.runs - before.runs;
  result.trials = after.trials - before.trials;
  result.spans = engine::take_trace(core);
  result.wall_ns = now_ns() - start_ns;
  return result;
}

} // namespace hearth::orchestrator
