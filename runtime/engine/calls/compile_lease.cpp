#include "runtime/engine/calls/compile_lease.hpp"

#include "messages/expiry.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/calls/saved_time.hpp"
#include "runtime/engine/calls/tiers.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

namespace hearth::engine {
namespace {

// The outcome of a compile callback. With `ends` it ends the lease, and every waiter gets it.
struct outcome {
  expected<artifact> made;
  bool ends;
};

outcome run_callback(const compile_function& compile, const std::stop_token& stop) {
  try {
    auto made = compile(stop);
    if (made && !*made)
      return {fail(errc::invalid_value, "the compile callback returned an empty artifact"), true};
    const bool gave_up = !made && (made.error().code() == errc::cancelled || stop.stop_requested());
    return {std::move(made), !gave_up};
  } catch (const std::exception& e) {
    return {fail(errc::compile_failed, std::string("the compile callback threw: ") + e.what()),
            false};
  } catch (...) {
    // The thread is cancelled or exits: unwinding releases the lease.
    if (!std::current_exception()) throw;
    return {fail(errc::compile_failed,
                 "the compile callback threw an object that is not a std::exception"),
            false};
  }
}

// A lease held by this thread. The destructor releases it to the next waiter unless it was ended.
class held_lease {
public:
  held_lease(runtime_core& core, const cache_key& key, lease_id id)
      : core_(core)
      , key_(key)
      , id_(id)
      , holder_(lease_ledger::this_thread()) {
    core_.ledger().begin_hold(holder_, key_);
  }
  held_lease(const held_lease&) = delete;
  held_lease& operator=(const held_lease&) = delete;
  ~held_lease() {
    core_.ledger().end_hold(holder_, key_);
    if (id_ != 0 && !core_.refusal())
      caf::anon_send(core_.shards().owner_of(key_), verb::release_v, id_);
  }

  // Delivers the artifact to every waiter and returns the stored one.
  expected<artifact> fulfil(const artifact& made) {
    if (core_.refusal()) return made;
    auto stored = fulfil_lease(core_, key_, std::exchange(id_, 0), made);
    if (stored) return stored;
    core_.log(log_level::warning, "a compiled artifact was not kept: " + stored.error().text());
    return made;
  }

  void abandon(const error& why) {
    if (!core_.refusal())
      caf::anon_send(core_.shards().owner_of(key_), verb::abandon_v, std::exchange(id_, 0), why);
  }

private:
  runtime_core& core_;
  cache_key key_;
  lease_id id_;
  lease_ledger::holder holder_;
};

error cycle_on(const cache_key& key) {
  return {errc::lease_cycle, "waiting for key " +
                                 key::decode(key.bytes).value_or(::hearth::key("?")).describe() +
                                 " could never end: its holder waits for this callback's key"};
}

using outcome_completion = completion<compile_outcome>;

// A granted lease that waits for a thread: either the thread begins the compile, or the caller
// gives up first and the next waiter gets the lease.
class granted_lease {
public:
  granted_lease(std::shared_ptr<runtime_core> core, cache_key key, lease_id id, bool waited,
                call_trace trace, std::chrono::milliseconds ttl)
      : core_(std::move(core))
      , key_(std::move(key))
      , id_(id)
      , waited_(waited)
      , trace_(std::move(trace))
      , ttl_(ttl)
      , stop_(*core_, {}) {}

  void begin(const compile_function& compile, const outcome_completion& answer) {
    if (taken_.test_and_set()) return;
    auto made = make_under_lease(*core_, key_, id_, compile, stop_.token(), ttl_, trace_);
    if (made)
      answer.deliver(compile_outcome{std::move(*made), tier::none, true, waited_});
    else
      answer.deliver(fail(made.error()));
  }
  // The caller no longer waits: the callback that has begun is told to stop.
  void give_up() {
    stop_.request_stop();
    if (!taken_.test_and_set() && !core_->refusal())
      caf::anon_send(core_->shards().owner_of(key_), verb::release_v, id_);
  }

private:
  const std::shared_ptr<runtime_core> core_;
  const cache_key key_;
  const lease_id id_;
  const bool waited_; // for another caller's compile
  call_trace trace_;
  const std::chrono::milliseconds ttl_;
  compile_stop stop_;
  std::atomic_flag taken_;
};

} // namespace

future<lease_reply> ask_for_lease(runtime_core& core, const cache_key& key,
                                  const call_options& options) {
  auto answer = ask<lease_reply>(core, options, verb::acquire_v, key);
  if (const auto& state = answer.state())
    state->on_give_up([owner = core.shards().owner_of(key), key] {
      caf::anon_send(owner, verb::withdraw_v, key);
    });
  return answer;
}

expected<lease_reply> wait_for_lease(runtime_core& core, const cache_key& key,
                                     const call_options& options) {
  const auto self = lease_ledger::this_thread();
  if (!core.ledger().holds_any(self)) return wait(ask_for_lease(core, key, options), options);
  if (!core.ledger().begin_wait(self, key)) return fail(cycle_on(key));
  const auto bounded =
      options.deadline() ? options : options.within(core.settings().nested_lease_deadline);
  auto reply = wait(ask_for_lease(core, key, bounded), bounded);
  core.ledger().end_wait(self);
  return reply;
}

tier tier_of(const lease_reply& reply) {
  return reply.found.hit() && !reply.waited ? reply.found.from : tier::none;
}

const char* step_of(const lease_reply& reply) {
  return reply.found.hit() && !reply.waited ? "hit" : "wait";
}

compile_outcome found_outcome(lease_reply reply) {
  const auto from = tier_of(reply);
  return {std::move(reply.found.value), from, false, reply.waited};
}

expected<artifact> fulfil_lease(runtime_core& core, const cache_key& key, lease_id id,
                                const artifact& made) {
  auto state = std::make_shared<completion_state<insert_outcome>>();
  caf::anon_send(core.shards().owner_of(key), verb::fulfil_v, id, made, insert_completion(state));
  const auto told = future<insert_outcome>(std::move(state)).get();
  if (!told) return fail(told.error());
  if (*told == insert_outcome::inserted) return made;
  auto stored = find_locally(core, {key.cache, key.bytes});
  return stored && *stored ? (*stored)->value : made;
}

compile_stop::compile_stop(runtime_core& core, const std::stop_token& cancel,
                           std::optional<std::chrono::steady_clock::time_point> end)
    : source_(std::make_shared<std::stop_source>())
    , on_cancel_(cancel, stops_source{*source_})
    , on_shutdown_(core.stop_token(), stops_source{*source_}) {
  if (end) core.expiries().add(*end, source_, [](std::stop_source& late) { late.request_stop(); });
}

expected<artifact> make_under_lease(runtime_core& core, const cache_key& key, lease_id id,
                                    const compile_function& compile, const std::stop_token& stop,
                                    std::chrono::milliseconds ttl, call_trace& trace) {
  held_lease lease(core, key, id);
  const auto start = std::chrono::steady_clock::now();
  trace.begin_step();
  auto [made, ends] = run_callback(compile, stop);
  trace.end_step("compile");
  if (made) {
    auto stored = lease.fulfil(
        with_ttl(with_time_taken(std::move(*made), std::chrono::steady_clock::now() - start), ttl));
    trace.end_step("insert");
    return stored;
  }
  if (ends) lease.abandon(made.error());
  return std::move(made);
}

future<compile_outcome> compile_async(const std::shared_ptr<runtime_core>& core,
                                      const cache_key& key, compile_function compile,
                                      const call_options& options, saved_time_ptr saved) {
  if (auto over = over_at_once(options)) return expected<compile_outcome>(fail(*over));
  auto state = call_state<compile_outcome>::begin(options.stop());
  const outcome_completion answer(state);
  const call_trace begun(*core, key.cache, key.bytes);
  auto lease = ask_for_lease(*core, key, {});
  // A caller that gives up the artifact also gives up waiting for the lease.
  if (const auto& waiting = lease.state())
    state->on_give_up([weak = std::weak_ptr(waiting)] {
      if (const auto living = weak.lock()) living->cancel(called_off());
    });
  expire(*core, state, options);
  lease.then([core, key, compile = std::move(compile), answer, saved = std::move(saved),
              trace = begun, ttl = options.ttl(),
              outer = std::weak_ptr(state)](expected<lease_reply> reply) mutable {
    if (!reply) return static_cast<void>(answer.deliver(fail(reply.error())));
    trace.end_step(step_of(*reply), tier_of(*reply));
    if (reply->found.hit()) {
      if (!reply->waited) note_hits(saved, reply->found);
      return static_cast<void>(answer.deliver(found_outcome(std::move(*reply))));
    }
    const auto granted =
        std::make_shared<granted_lease>(core, key, reply->lease.take(), reply->waited, trace, ttl);
    if (const auto wanted_by = outer.lock())
      wanted_by->on_give_up([granted] { granted->give_up(); });
    if (!answer.wanted()) return granted->give_up();
    // This is an actor's thread: the callback runs on a thread that it may block.
    core->callbacks().run(
        [granted, compile = std::move(compile), answer] { granted->begin(compile, answer); });
  });
  return future<compile_outcome>(std::move(state));
}

} // namespace hearth::engine
