// Actors without threads: the test steps the scheduler and moves the clock.
//
//   struct fixture : test::deterministic { ... };
//   const auto answer = ask<done>(actor, verb::drain_v);   // sends, runs all, takes the answer
#pragma once

#include "actors/ports/log_sink.hpp"
#include "messages/caf_compat.hpp"
#include "messages/type_ids.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <optional>
#include <string>
#include <vector>

namespace hearth::test {

class deterministic {
public:
  deterministic()
      : self(system, true) {}
  deterministic(const deterministic&) = delete;
  deterministic& operator=(const deterministic&) = delete;
  ~deterministic() {
    for (const auto& actor : ours_)
      caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    while (scheduler.run() + scheduler.trigger_timeouts() > 0) {
    }
  }

  /// Registers an actor that the fixture ends.
  template <class Handle>
  Handle keep(Handle actor) {
    ours_.push_back(caf::actor_cast<caf::actor>(actor));
    return actor;
  }

  /// Registers all actors of a wiring, which the fixture ends.
  template <class Actors>
  void keep_all(const Actors& actors) {
    append(ours_, actors);
  }

  /// Sends a request, runs every actor until none has work left, returns the reply.
  template <class T, class Handle, class... Parts>
  expected<T> ask(const Handle& actor, const Parts&... parts) {
    auto answer = self->request(actor, caf::infinite, parts...);
    scheduler.run();
    std::optional<expected<T>> result;
    answer.receive([&](const T& value) { result.emplace(value); },
                   [&](const caf::error& why) { result.emplace(fail(from_caf(why))); });
    return std::move(*result);
  }

  /// Lets actors run and time pass until nothing more happens. Every timer fires at once, also one
  /// that would have been overtaken.
  void run_until_idle() {
    while (scheduler.run() + scheduler.trigger_timeouts() > 0) {
    }
  }

  /// Lets actors run and time pass, from timer to timer, until the condition holds. False: nothing
  /// happens any more.
  template <class Condition>
  bool run_until(Condition holds) {
    while (!holds())
      if (scheduler.run() == 0 && !scheduler.trigger_timeout()) return false;
    return true;
  }

  /// Keeps the lines of a log.
  actors::log_sink log_to(std::vector<std::string>& lines) {
    return [&lines](log_level, std::string_view text) { lines.emplace_back(text); };
  }

private:
  struct config : caf::actor_system_config {
    config() {
      add_message_types<caf::id_block::hearth>();
      set("scheduler.policy", caf::atom("testing"));
    }
  };

  config config_;

public:
  caf::actor_system system{config_};
  caf::scheduler::test_coordinator& scheduler =
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  caf::scoped_actor self;

private:
  std::vector<caf::actor> ours_;
};

} // namespace hearth::test
