// How a script delivers messages and moves the clock.
#include "runtime/simulation/script/interpreter/interpreter_state.hpp"

namespace hearth::script {
namespace {

// The most by which the clock, under a seed, may move while messages wait: the actors are slow.
constexpr std::chrono::milliseconds longest_lag{50};

} // namespace

void interpreter::check_limits() {
  if (world_.system().steps() > max_steps_)
    throw failed{"at most " + std::to_string(max_steps_) + " messages", "more"};
  if (world_.system().now() > max_time_)
    throw failed{"at most " + simulation::text_of(max_time_) + " of virtual time", "more"};
}

bool interpreter::deliver_one() {
  check_limits();
  return world_.system().deliver_one();
}

// Delivers all messages, while time may pass.
void interpreter::deliver_in_time() {
  do {
    if (is_seeded_ && is_open_ && random_.one_in(16)) lag();
  } while (deliver_one());
}

// Moves the clock although messages wait.
void interpreter::lag() {
  const auto next = world_.system().next_event();
  if (next && *next - world_.system().now() <= longest_lag) world_.system().advance_to(*next);
}

bool interpreter::pass_to_next_event(std::chrono::nanoseconds until) {
  check_limits();
  const auto next = world_.system().next_event();
  if (!next || *next > until) return false;
  world_.system().advance_to(*next);
  return true;
}

void interpreter::run(const deliver& what) {
  const auto* until = what.until.empty() ? nullptr : &answer(what.until);
  for (std::uint64_t count = 0; count < what.count; ++count) {
    if (until && until->is_there) return;
    const bool delivered = what.to ? deliver_to(*what.to) : deliver_one();
    if (delivered) continue;
    if (until) throw failed{"an answer to " + what.until, "no message is left to deliver"};
    if (what.count != ~std::uint64_t{0})
      throw failed{std::to_string(what.count) + " messages to deliver",
                   std::to_string(count) + " were there"};
    return;
  }
}

bool interpreter::deliver_to(const place& where) {
  check_limits();
  if (const auto* one = world_.find_client(where.owner); one && where.part.empty())
    return one->is_alive() && world_.system().deliver_one_to(one->actor.id());
  auto& of = running(where.owner);
  const auto kind = simulation::actor_kind_named(where.part).value();
  for (std::size_t i = 0; i < of.actors_of(kind).size(); ++i)
    if (!where.index || *where.index == i)
      if (world_.system().deliver_one_to(of.actors_of(kind)[i].id())) return true;
  return false;
}

bool interpreter::all_answered() const {
  return std::all_of(asked_.begin(), asked_.end(),
                     [](const auto& one) { return one.slot->is_there; });
}

void interpreter::run(const run_until_idle& what) {
  const auto until = world_.system().now() + what.within;
  do {
    deliver_in_time();
  } while (!all_answered() && pass_to_next_event(until));
}

void interpreter::run(const set_auto_run& what) { runs_until_idle_ = what.always; }

void interpreter::run(const pass_time& what) {
  const auto until = world_.system().now() + chosen(what.time);
  if (what.delivers) {
    do {
      deliver_in_time();
    } while (pass_to_next_event(until));
  }
  world_.system().advance_to(until);
  check_limits();
}

std::chrono::nanoseconds interpreter::chosen(const time_range& range) {
  if (!is_seeded_ || range.least == range.most) return range.least;
  const auto span = static_cast<std::uint64_t>((range.most - range.least).count());
  return range.least + std::chrono::nanoseconds(random_.between(0, span));
}

void interpreter::run(const stall& what) {
  auto& of = running(what.who.owner);
  const auto until = world_.system().now() + chosen(what.time);
  if (what.who.part.empty()) {
    for (const auto& one : of.all_actors())
      world_.system().stall(one, until);
    return;
  }
  const auto kind = simulation::actor_kind_named(what.who.part).value();
  const auto& all = of.actors_of(kind);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!what.who.index || *what.who.index == i) world_.system().stall(all[i], until);
}

void interpreter::run(const set_order& what) {
  is_open_ = what.open;
  world_.system().choose_by(is_seeded_ && is_open_ ? &random_ : nullptr);
}

void interpreter::run(const set_limit& what) {
  if (what.steps) max_steps_ = what.steps;
  if (what.time.count()) max_time_ = what.time;
}

void interpreter::run(const forget_trace&) { trace_from_ = trace_.size(); }

void interpreter::run(const maybe& what) {
  if (is_seeded_ && random_.one_in(2)) carry_out(*what.what);
}

} // namespace hearth::script
