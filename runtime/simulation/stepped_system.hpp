// Actors without threads: every message is delivered on request, in order or in a random order from
// a seed, and the clock moves only when the caller moves it. Records each delivery in a trace.
//
// One thread, that of the caller of the steps.
#pragma once

#include "messages/protocol.hpp"
#include "runtime/simulation/random_source.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hearth::simulation {

/// Virtual time since the system was made.
using virtual_time = std::chrono::nanoseconds;

/// "12.345ms"
std::string text_of(virtual_time at);

/// Prepares an actor to send from outside of its handlers: clears its pointer to the scheduler's
/// worker that ran it last, which no longer exists.
caf::event_based_actor& sending_from_outside(caf::event_based_actor& from);

class stepped_system {
public:
  stepped_system();
  stepped_system(const stepped_system&) = delete;
  stepped_system& operator=(const stepped_system&) = delete;
  /// All actors must have been ended.
  ~stepped_system();

  caf::actor_system& actors() { return system_; }

  // --- names
  /// Gives an actor the name that traces use, and lets it start.
  void enlist(const caf::actor& actor, std::string name);
  const std::string& name_of(caf::actor_id id) const;

  // --- steps
  /// From now on `random` chooses which actor gets the next message; null: the order in which
  /// mailboxes became ready.
  void choose_by(random_source* random) { random_ = random; }
  /// Delivers one message; false when no message can be delivered.
  bool deliver_one();
  /// Delivers the next message of this actor; false when it has none.
  bool deliver_one_to(caf::actor_id receiver);
  /// Whether some actor could get a message now.
  bool has_work() const;
  std::size_t mailbox_size(const caf::actor& actor) const;
  /// Messages that wait in all mailboxes of enlisted actors with work.
  std::size_t waiting_messages() const;
  /// Ends these actors as a kill does: their mailboxes are not processed.
  void kill(const std::vector<caf::actor>& actors);
  /// A response that was delivered although the same request had one before, in words; or empty.
  const std::string& answered_twice() const { return answered_twice_; }
  std::size_t living_actors() { return system_.registry().running(); }

  // --- time
  virtual_time now() const;
  /// When the next timer or stalled actor is due.
  std::optional<virtual_time> next_event() const;
  void advance_to(virtual_time when);
  /// Keeps an actor from getting messages until then, as if it blocked.
  void stall(const caf::actor& actor, virtual_time until) { stalled_[actor.id()] = until; }
  /// Called before a delivery; returns the time for which the receiver blocks first.
  using cost_function =
      std::function<std::chrono::nanoseconds(caf::actor_id, const caf::type_erased_tuple&)>;
  void set_cost(cost_function cost) { cost_ = std::move(cost); }

  /// Called before each delivery of a request or message, not of an answer.
  using observer = std::function<void(caf::actor_id, const caf::type_erased_tuple&)>;
  void set_observer(observer watch) { watch_ = std::move(watch); }

  // --- the trace
  using trace_sink = std::function<void(std::string)>;
  /// Sets the receiver of the trace; null: no trace.
  void set_trace(trace_sink sink) { trace_ = std::move(sink); }
  void note(std::string_view text);
  std::uint64_t steps() const { return steps_; }

private:
  struct config : caf::actor_system_config {
    config();
  };
  bool is_stalled(caf::actor_id id) const;
  bool is_ready(caf::resumable* job) const;
  bool delay_by_cost(caf::resumable* job);
  void run(std::size_t job);
  void note_next(caf::resumable* job);
  void start_new_actors();

  config config_;
  caf::actor_system system_{config_};
  caf::scheduler::test_coordinator& scheduler_;
  std::chrono::steady_clock::time_point start_;
  std::map<caf::actor_id, std::string> names_;
  std::map<caf::actor_id, virtual_time> stalled_;
  std::map<caf::actor_id, const void*> paid_; // messages whose cost has passed
  cost_function cost_;
  observer watch_;
  trace_sink trace_;
  random_source* random_ = nullptr;
  std::uint64_t steps_ = 0;
  std::unordered_map<caf::actor_id, std::unordered_set<std::uint64_t>> answered_; // requests
  std::string answered_twice_;
};

} // namespace hearth::simulation
