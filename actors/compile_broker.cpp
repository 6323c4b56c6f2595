#include "actors/compile_broker.hpp"

#include "actors/timeouts.hpp"

#include <caf/actor_system.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hearth::actors {
namespace {

constexpr std::size_t max_spans = 100'000;

std::int64_t nanoseconds(caf::actor_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

void dispatch(compile_broker_pointer self);

// Takes an idle worker and remembers its task, for the trace.
class assignment {
public:
  assignment(compile_broker_pointer self, std::string name, std::string category,
             std::string key = {})
      : worker_(self->state.idle.back())
      , start_(self->clock().now())
      , name_(std::move(name))
      , category_(std::move(category))
      , key_(std::move(key)) {
    self->state.idle.pop_back();
    auto& counters = self->state.counters;
    const auto busy = self->state.workers - self->state.idle.size();
    counters.max_at_once = std::max<std::uint64_t>(counters.max_at_once, busy);
  }

  const compile_worker_actor& worker() const { return worker_; }

  // The worker is free again; gives it the next task.
  void end(compile_broker_pointer self) const {
    note_span(self);
    self->state.idle.push_back(worker_);
    dispatch(self);
  }

  // The worker answered with an error. An error of CAF itself means that the worker has ended, by a
  // kill or an exception; the broker gives it no more tasks.
  void end(compile_broker_pointer self, const caf::error& why) const {
    if (why.category() == caf::atom("hearth")) return end(self);
    note_span(self);
    --self->state.workers;
    dispatch(self);
  }

private:
  void note_span(compile_broker_pointer self) const {
    auto& spans = self->state.spans;
    const auto start = nanoseconds(start_);
    if (spans.size() < max_spans)
      spans.push_back({name_,
                       category_,
                       start,
                       nanoseconds(self->clock().now()) - start,
                       worker_.id(),
                       key_,
                       {}});
  }

  compile_worker_actor worker_;
  caf::actor_clock::time_point start_;
  std::string name_;
  std::string category_;
  std::string key_;
};

void start_program(compile_broker_pointer self, compile_broker_state::program next) {
  ++self->state.counters.runs;
  const assignment work(self, next.request.label, "compile", next.request.traced_key);
  self->request(work.worker(), until_it_ends, verb::run_v, std::move(next.request))
      .then(
          [self, work, promise = next.promise](const action_result& result) mutable {
            self->state.counters.failures += !result.process.succeeded();
            promise.deliver(result);
            work.end(self);
          },
          [self, work, promise = next.promise](const caf::error& why) mutable {
            ++self->state.counters.failures;
            promise.deliver(why);
            work.end(self, why);
          });
}

void start_trial(compile_broker_pointer self, compile_broker_state::trial next) {
  ++self->state.counters.trials;
  self->state.trial_runs = true;
  const assignment work(self, next.request.entry, "trial");
  self->request(work.worker(), until_it_ends, verb::trial_v, std::move(next.request), next.library,
                next.deadline)
      .then(
          [self, work, promise = next.promise](const trial_result& result) mutable {
            self->state.trial_runs = false;
            promise.deliver(result);
            work.end(self);
          },
          [self, work, promise = next.promise](const caf::error& why) mutable {
            self->state.trial_runs = false;
            promise.deliver(why);
            work.end(self, why);
          });
}

// With no worker left, every queued request fails.
void fail_queued(compile_broker_state& state) {
  const auto why = to_caf({errc::closed, "every compile worker has ended; start a new runtime"});
  for (auto& one : std::exchange(state.trials, {}))
    one.promise.deliver(why);
  for (auto& [priority, queue] : std::exchange(state.programs, {}))
    for (auto& one : queue)
      one.promise.deliver(why);
}

// Gives every idle worker a task. Trials go first, because a trial is the last step of an entry.
void dispatch(compile_broker_pointer self) {
  auto& state = self->state;
  if (state.workers == 0) return fail_queued(state);
  while (!state.idle.empty()) {
    if (!state.trials.empty() && !state.trial_runs) {
      auto next = std::move(state.trials.front());
      state.trials.pop_front();
      start_trial(self, std::move(next));
    } else if (!state.programs.empty()) {
      auto& queue = state.programs.begin()->second;
      auto next = std::move(queue.front());
      queue.pop_front();
      if (queue.empty()) state.programs.erase(state.programs.begin());
      start_program(self, std::move(next));
    } else {
      return;
    }
  }
}

broker_stats stats_of(const compile_broker_state& state) {
  auto result = state.counters;
  result.queued = state.trials.size();
  for (const auto& [priority, queue] : state.programs)
    result.queued += queue.size();
  return result;
}

} // namespace

compile_broker_actor::behavior_type compile_broker(compile_broker_pointer self,
                                                   std::vector<compile_worker_actor> workers) {
  self->state.workers = workers.size();
  self->state.idle = std::move(workers);
  return {
      [self](verb::run, const action_request& request, int priority) {
        const shared_promise<action_result> promise(self->make_response_promise<action_result>());
        self->state.programs[priority].push_back({request, promise});
        dispatch(self);
        return promise.promise();
      },
      [self](verb::trial, const trial_request& request, const artifact& library,
             std::chrono::milliseconds deadline) {
        const shared_promise<trial_result> promise(self->make_response_promise<trial_result>());
        self->state.trials.push_back({request, library, deadline, promise});
        dispatch(self);
        return promise.promise();
      },
      [self](verb::trace) { return std::exchange(self->state.spans, {}); },
      [self](verb::stats) { return stats_of(self->state); },
  };
}

} // namespace hearth::actors
