#include "runtime/simulation/stepped_system.hpp"

#include "runtime/simulation/text.hpp"

#include <caf/actor_registry.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>

namespace hearth::simulation {
namespace {

// Null for a job that is not an actor. The job's subtype is cheaper than a dynamic cast.
caf::scheduled_actor* as_actor(caf::resumable* job) {
  return job->subtype() == caf::resumable::scheduled_actor ? static_cast<caf::scheduled_actor*>(job)
                                                           : nullptr;
}

caf::mailbox_element* next_message(caf::resumable* job) {
  auto* actor = as_actor(job);
  return actor ? actor->peek_at_next_mailbox_element() : nullptr;
}

std::size_t messages_in(caf::scheduled_actor* actor) {
  // Peeking moves newly arrived messages into the queue.
  return actor && actor->peek_at_next_mailbox_element() ? actor->mailbox().queue().total_task_size()
                                                        : 0;
}

} // namespace

std::string text_of(virtual_time at) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(at).count();
  auto text = std::to_string(us / 1000);
  const auto rest = std::to_string(1000 + us % 1000); // keeps its leading zeros
  return text.append(".").append(rest, 1).append("ms");
}

caf::event_based_actor& sending_from_outside(caf::event_based_actor& from) {
  from.context(nullptr);
  return from;
}

stepped_system::config::config() {
  add_message_types<caf::id_block::hearth>();
  set("scheduler.policy", caf::atom("testing"));
  set("logger.verbosity", caf::atom("quiet"));
}

stepped_system::stepped_system()
    : scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler()))
    , start_(scheduler_.clock().now()) {}

stepped_system::~stepped_system() {
  trace_ = nullptr;
  while (scheduler_.run() + scheduler_.trigger_timeouts() > 0) {
  }
}

void stepped_system::enlist(const caf::actor& actor, std::string name) {
  names_[actor.id()] = std::move(name);
  start_new_actors();
}

// A new actor's first job carries no message.
void stepped_system::start_new_actors() {
  for (std::size_t i = 0; i < scheduler_.jobs.size();) {
    if (next_message(scheduler_.jobs[i]))
      ++i;
    else
      run(i);
  }
}

const std::string& stepped_system::name_of(caf::actor_id id) const {
  static const std::string nobody = "-";
  const auto at = names_.find(id);
  return at == names_.end() ? nobody : at->second;
}

// --- steps -------------------------------------------------------------------------------------

bool stepped_system::is_stalled(caf::actor_id id) const {
  const auto at = stalled_.find(id);
  return at != stalled_.end() && at->second > now();
}

bool stepped_system::is_ready(caf::resumable* job) const {
  const auto* actor = as_actor(job);
  return !actor || !is_stalled(actor->id());
}

// Whether the job has to wait first, since its next message has a cost in virtual time.
bool stepped_system::delay_by_cost(caf::resumable* job) {
  const auto* actor = as_actor(job);
  const auto* message = next_message(job);
  if (!cost_ || !actor || !message || paid_[actor->id()] == message) return false;
  const auto cost = cost_(actor->id(), message->content());
  if (cost.count() <= 0) return false;
  paid_[actor->id()] = message;
  stalled_[actor->id()] = now() + cost;
  return true;
}

void stepped_system::note_next(caf::resumable* job) {
  const auto* actor = as_actor(job);
  const auto* message = next_message(job);
  if (!actor || !message) return;
  ++steps_;
  // CAF's clock tells the time limit of a request in the name of the actor itself, also of one that
  // was answered long ago; whichever comes later, the limit or an answer, CAF drops.
  const bool is_clocks = message->sender && message->sender->id() == actor->id();
  if (message->mid.is_response() && !is_clocks && answered_twice_.empty() &&
      !answered_[actor->id()].insert(message->mid.integer_value()).second)
    answered_twice_ = "of " + name_of(actor->id()) + ", the second time by " +
                      (message->sender ? name_of(message->sender->id()) : "nobody") + ": " +
                      text_of(message->content());
  if (watch_ && !message->mid.is_response()) watch_(actor->id(), message->content());
  if (!trace_) return;
  auto line = message->sender ? name_of(message->sender->id()) : "-";
  line += message->mid.is_response() ? " => " : " -> ";
  line += name_of(actor->id());
  line += ": ";
  line += text_of(message->content());
  note(line);
}

void stepped_system::run(std::size_t job) {
  auto& jobs = scheduler_.jobs;
  const auto at = jobs.begin() + static_cast<std::ptrdiff_t>(job);
  std::rotate(jobs.begin(), at, at + 1);
  if (const auto* actor = as_actor(jobs.front())) paid_.erase(actor->id());
  note_next(jobs.front());
  scheduler_.run_once();
}

bool stepped_system::deliver_one() {
  start_new_actors();
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < scheduler_.jobs.size(); ++i) {
    if (!is_ready(scheduler_.jobs[i]) || delay_by_cost(scheduler_.jobs[i])) continue;
    ready.push_back(i);
    if (!random_) break;
  }
  if (ready.empty()) return false;
  run(random_ ? ready[random_->below(ready.size())] : ready.front());
  return true;
}

bool stepped_system::deliver_one_to(caf::actor_id receiver) {
  start_new_actors();
  for (std::size_t i = 0; i < scheduler_.jobs.size(); ++i) {
    const auto* actor = as_actor(scheduler_.jobs[i]);
    if (!actor || actor->id() != receiver) continue;
    if (!is_ready(scheduler_.jobs[i]) || delay_by_cost(scheduler_.jobs[i])) return false;
    run(i);
    return true;
  }
  return false;
}

bool stepped_system::has_work() const {
  return std::any_of(scheduler_.jobs.begin(), scheduler_.jobs.end(),
                     [this](auto* job) { return is_ready(job); });
}

std::size_t stepped_system::mailbox_size(const caf::actor& actor) const {
  return messages_in(
      dynamic_cast<caf::scheduled_actor*>(caf::actor_cast<caf::abstract_actor*>(actor)));
}

std::size_t stepped_system::waiting_messages() const {
  std::size_t count = 0;
  for (auto* job : scheduler_.jobs)
    count += messages_in(as_actor(job));
  return count;
}

void stepped_system::kill(const std::vector<caf::actor>& actors) {
  for (const auto& actor : actors)
    caf::anon_send<caf::message_priority::high>(actor, caf::exit_msg{{}, caf::exit_reason::kill});
  const auto is_one = [&](caf::resumable* job) {
    const auto* of = as_actor(job);
    return of && std::any_of(actors.begin(), actors.end(),
                             [of](const auto& actor) { return actor.id() == of->id(); });
  };
  auto& jobs = scheduler_.jobs;
  for (;;) {
    const auto at = std::find_if(jobs.begin(), jobs.end(), is_one);
    if (at == jobs.end()) break;
    std::rotate(jobs.begin(), at, at + 1);
    scheduler_.run_once();
  }
  for (const auto& actor : actors)
    stalled_.erase(actor.id());
}

// --- time --------------------------------------------------------------------------------------

virtual_time stepped_system::now() const {
  return std::chrono::duration_cast<virtual_time>(scheduler_.clock().now() - start_);
}

std::optional<virtual_time> stepped_system::next_event() const {
  std::optional<virtual_time> next;
  const auto take = [&](virtual_time at) { next = next ? std::min(*next, at) : at; };
  const auto& schedule = scheduler_.clock().schedule();
  if (!schedule.empty())
    take(std::chrono::duration_cast<virtual_time>(schedule.begin()->first - start_));
  for (const auto& [actor, until] : stalled_)
    if (until > now()) take(until);
  return next;
}

void stepped_system::advance_to(virtual_time when) {
  if (when > now()) scheduler_.advance_time(when - now());
  std::erase_if(stalled_, [this](const auto& entry) { return entry.second <= now(); });
}

void stepped_system::note(std::string_view text) {
  if (trace_) trace_(text_of(now()).append(" ").append(text));
}

} // namespace hearth::simulation
