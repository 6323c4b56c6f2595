#include "runtime/orchestrator/compile_plan.hpp"

#include "runtime/caches/autotune/tuning_caches.hpp"
#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/orchestrator/plan_code.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <memory>

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

// One run of a plan: an actor requests every entry from the tuner and, when an entry is done, the
// other shapes that it serves.
struct session {
  const plan& work;
  const std::vector<tune_request_ptr>& entries;
  const progress_callback& progress;
  kernel_tuner_actor tuner;
  std::shared_ptr<std::vector<request_report>> reports;
  /// Owned by the session, which the actor's pending requests hold: it delivers `closed` when the
  /// actor ends early.
  completion<hearth::done> finished;
  std::size_t done = 0;
};

using session_ptr = std::shared_ptr<session>;
using self_pointer = caf::event_based_actor*;

void complete_request(self_pointer self, const session_ptr& run, std::size_t request,
                      const tune_reply& reply) {
  auto& report = (*run->reports)[request];
  report.result = reply;
  ++run->done;
  if (run->progress) run->progress(run->done, run->reports->size(), report);
  if (run->done < run->reports->size()) return;
  run->finished.deliver(hearth::done{});
  self->quit();
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

// When this run fetched an entry from the remote tier, all shapes that it serves count as remote
// hits, although the later requests find it in memory or on disk.
tune_reply as_found_first(tune_reply reply, tune_status first) {
  const bool is_here = reply.status == tune_status::memory || reply.status == tune_status::disk;
  if (first == tune_status::remote && is_here) reply.status = tune_status::remote;
  return reply;
}

// Requests the other shapes that the entry serves; they fail when the entry failed.
void ask_for_other_shapes(self_pointer self, const session_ptr& run, std::size_t entry,
                          const tune_reply& first) {
  const auto& requests = run->work.entries[entry].requests;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const auto request = requests[i];
    if (first.status == tune_status::failed) {
      complete_request(self, run, request, first);
      continue;
    }
    ask(self, run, for_shape(run->entries[entry], run->work, run->work.requests[request]),
        [=, found = first.status](const tune_reply& reply) {
          complete_request(self, run, request, as_found_first(reply, found));
        });
  }
}

void start(self_pointer self, session_ptr run) {
  for (std::size_t entry = 0; entry < run->entries.size(); ++entry)
    ask(self, run, run->entries[entry], [=](const tune_reply& reply) {
      const auto& requests = run->work.entries[entry].requests;
      const bool serves_others = requests.size() > 1;
      complete_request(self, run, requests.front(), reply); // the last one ends the plan
      if (serves_others) ask_for_other_shapes(self, run, entry, reply);
    });
}

expected<std::vector<request_report>> run_session(engine::runtime_core& core, const plan& work,
                                                  const std::vector<tune_request_ptr>& entries,
                                                  const progress_callback& progress) {
  auto reports = std::make_shared<std::vector<request_report>>();
  for (const auto& request : work.requests)
    reports->push_back(report_of(work, request));
  const auto all_done = std::make_shared<completion_state<done>>();
  {
    const auto inside = core.enter_system();
    if (!inside) return fail(inside.error());
    auto run = std::make_shared<session>(
        session{work, entries, progress, core.tuner(), reports, completion<done>(all_done)});
    const engine::logger_guard guard;
    core.system().spawn(start, std::move(run));
  }
  const auto finished = all_done->wait();
  if (!finished) return fail(finished.error());
  return std::move(*reports);
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
expected<std::vector<request_report>> run_tuned(engine::runtime_core& core, const plan& work,
                                                const planned_tuning& tuning,
                                                const progress_callback& progress,
                                                plan_report& report) {
  report.bundle = begin_session(core, work, tuning.scope);
  if (report.bundle.id == 0) return run_session(core, work, tuning.entries, progress);
  auto reports = run_session(core, work, noted_for(tuning.entries, report.bundle.id), progress);
  if (reports)
    report.bundled =
        answer_or_nothing<bundle_end>(core, core.bundler(), verb::finish_v, report.bundle.id);
  else
    caf::anon_send(core.bundler(), verb::abandon_v, report.bundle.id);
  return reports;
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
  const auto planned = make_tune_requests(core, work, tuning, core.processes(), *facts);
  if (!planned) return fail(planned.error());
  plan_report result;
  auto reports = tuning.mode == tune_mode::off ? run_session(core, work, planned->entries, progress)
                                               : run_tuned(core, work, *planned, progress, result);
  if (!reports) return fail(reports.error());
  result.requests = std::move(*reports);
  count(work, result);
  const auto after = answer_or_nothing<broker_stats>(core, core.broker(), verb::stats_v);
  result.compiler_runs = after.runs - before.runs;
  result.trials = after.trials - before.trials;
  result.spans = answer_or_nothing<span_list>(core, core.broker(), verb::trace_v);
  result.wall_ns = now_ns() - start_ns;
  return result;
}

} // namespace hearth::orchestrator
