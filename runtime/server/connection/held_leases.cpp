#include "runtime/server/connection/held_leases.hpp"

#include <utility>

namespace hearth::server {
namespace {

// Ends a wait for a lease. One that comes all the same goes to the next that waits.
void give_up(const std::weak_ptr<completion_state<lease_reply>>& asked) {
  if (const auto living = asked.lock())
    living->cancel({errc::cancelled, "the lease is no longer wanted"});
}

} // namespace

held_leases::held_leases(session_host& host, server_context& context, entry_space entries)
    : host_(host)
    , context_(context)
    , entries_(std::move(entries)) {}

held_leases::~held_leases() {
  auto& counters = context_.counters;
  for (const auto& [key, one] : leases_)
    entries_.release(key, one.lease);
  counters.holders_now -= leases_.size();
  counters.holders_ended += leases_.size();
  counters.held_now -= waits_.size();
  for (const auto& [number, one] : waits_)
    give_up(one.asked);
}

std::chrono::nanoseconds held_leases::held_for(std::string_view key) const {
  const auto at = leases_.find(key);
  if (at == leases_.end()) return {};
  return std::chrono::steady_clock::now() - at->second.since;
}

// As the host's; not called either once this object is gone.
template <class T, class Next>
void held_leases::when_answered(future<T> asked, Next next) {
  host_.when_answered(std::move(asked),
                      [alive = std::weak_ptr(alive_), next = std::move(next)](expected<T> answer) {
                        if (!alive.expired()) next(std::move(answer));
                      });
}

void held_leases::get(std::string_view key, lookup_callback answer) {
  when_answered(entries_.get(key),
                [this, key = std::string(key), answer = std::move(answer)](expected<lookup> found) {
                  if (!found || found->hit() || holds(key) || !may_wait())
                    return answer(std::move(found));
                  acquire(key, answer);
                });
}

// Calls `told` on the connection's thread when a client of the server has stored the key.
template <class Told>
store_watch::handle held_leases::watch(const std::string& key, Told told) {
  return entries_.watch(
      key, [host = host_.weak_from_this(), alive = std::weak_ptr(alive_), told = std::move(told)] {
        const auto living = host.lock();
        if (!living) return;
        living->post([alive, told] {
          if (!alive.expired()) told();
        });
      });
}

// Takes a place among the misses that wait.
bool held_leases::may_wait() {
  auto& counters = context_.counters;
  if (leases_.size() + waits_.size() < max_leases) {
    if (counters.held_now.fetch_add(1) < context_.hold().max_held) {
      ++counters.held_total;
      return true;
    }
    --counters.held_now;
  }
  ++counters.held_refused;
  return false;
}

void held_leases::acquire(const std::string& key, const lookup_callback& answer) {
  const auto number = ++last_wait_;
  auto& one = waits_[number];
  one.key = key;
  one.answer = answer;
  // Before the look of `acquire`, so that no store is missed.
  one.watch = watch(key, [this, number] { look_again(number); });
  auto asked = entries_.acquire(key, context_.hold().wait);
  one.asked = asked.state();
  when_answered(std::move(asked), [this, number](expected<lease_reply> reply) {
    take_reply(number, std::move(reply));
  });
}

// The key of a wait was stored: the wait ends, unless the value is gone again.
void held_leases::look_again(std::uint64_t number) {
  const auto at = waits_.find(number);
  if (at == waits_.end()) return;
  when_answered(entries_.get(at->second.key), [this, number](expected<lookup> found) {
    if (!found || !found->hit()) return;
    const auto ended = take_wait(number);
    if (!ended) return;
    give_up(ended->asked);
    ++context_.counters.held_hits;
    ended->answer(std::move(found));
  });
}

// Empty: it was answered before.
std::optional<held_leases::wait> held_leases::take_wait(std::uint64_t number) {
  auto node = waits_.extract(number);
  if (node.empty()) return std::nullopt;
  --context_.counters.held_now;
  return std::move(node.mapped());
}

void held_leases::take_reply(std::uint64_t number, expected<lease_reply> reply) {
  const auto ended = take_wait(number);
  if (!ended) return;
  const bool waited = !reply || reply->waited;
  if (!waited || (reply && reply->found.hit())) return answer_wait(*ended, std::move(reply));
  // Another process may have stored the key meanwhile, or a client that this one was not told of
  // yet.
  when_answered(entries_.get(ended->key),
                [this, ended = *ended, reply = std::move(reply)](expected<lookup> found) {
                  if (!found || !found->hit()) return answer_wait(ended, reply);
                  ++context_.counters.held_hits;
                  ended.answer(std::move(found));
                });
}

void held_leases::answer_wait(const wait& ended, expected<lease_reply> reply) {
  if (!reply) {
    // The lookup itself was answered: whatever ends the wait, it was a miss.
    if (reply.error().code() == errc::timeout) ++context_.counters.held_deadlines;
    return ended.answer(lookup{});
  }
  if (reply->found.hit()) {
    ++context_.counters.held_hits;
    return ended.answer(std::move(reply->found));
  }
  if (reply->lease) hold(ended.key, reply->lease.take());
  ended.answer(lookup{});
}

void held_leases::hold(const std::string& key, lease_id lease) {
  // Two lookups of one connection that waited together: the first lease is the one to keep.
  if (leases_.contains(key)) return entries_.release(key, lease);
  leases_.emplace(key, held{lease, std::chrono::steady_clock::now(),
                            watch(key, [this, key, lease] { end_if_stored(key, lease); })});
  ++context_.counters.holders_now;
  host_.post_after(context_.hold().holder, [this, alive = std::weak_ptr(alive_), key, lease] {
    if (!alive.expired()) end_hold(key, lease);
  });
}

// A client of the server has stored the key, maybe this one by a command that knows no lease:
// nobody needs to make the value any more.
void held_leases::end_if_stored(const std::string& key, lease_id lease) {
  when_answered(entries_.get(key), [this, key, lease](const expected<lookup>& found) {
    if (found && found->hit()) end_hold(key, lease);
  });
}

bool held_leases::abandon(std::string_view key) {
  const auto lease = take_lease(key);
  if (lease == 0) return false;
  entries_.release(key, lease);
  ++context_.counters.holders_ended;
  return true;
}

void held_leases::abandon_all() {
  while (!leases_.empty())
    abandon(std::string(leases_.begin()->first));
}

void held_leases::end_hold(const std::string& key, lease_id lease) {
  const auto at = leases_.find(key);
  if (at == leases_.end() || at->second.lease != lease) return;
  entries_.release(key, take_lease(key));
  ++context_.counters.holders_ended;
}

// The lease of the key, which is no longer held; 0: there is none.
lease_id held_leases::take_lease(std::string_view key) {
  const auto at = leases_.find(key);
  if (at == leases_.end()) return 0;
  const auto lease = at->second.lease;
  leases_.erase(at);
  --context_.counters.holders_now;
  return lease;
}

void held_leases::put(std::string_view key, const artifact& value,
                      std::function<void(expected<done>)> answer) {
  if (!holds(key)) return replace(std::string(key), value, std::move(answer));
  fulfil(key, value,
         [this, key = std::string(key), value,
          answer = std::move(answer)](expected<insert_outcome> outcome) {
           // Another caller stored an entry meanwhile: a put replaces it.
           if (outcome && *outcome == insert_outcome::exists) return replace(key, value, answer);
           if (!outcome) return answer(fail(outcome.error()));
           answer(done{});
         });
}

void held_leases::insert(std::string_view key, const artifact& value, outcome_callback answer) {
  if (holds(key)) return fulfil(key, value, std::move(answer));
  when_answered(entries_.insert(key, value), std::move(answer));
}

void held_leases::replace(const std::string& key, const artifact& value,
                          std::function<void(expected<done>)> answer) {
  when_answered(entries_.put(key, value), std::move(answer));
}

// Precondition: the key is held. A lease that was taken over (another process thought this one
// dead) leaves an insert.
void held_leases::fulfil(std::string_view key, const artifact& value, outcome_callback answer) {
  const auto lease = take_lease(key);
  when_answered(entries_.fulfil(key, lease, value),
                [this, key = std::string(key), value,
                 answer = std::move(answer)](expected<insert_outcome> outcome) {
                  if (outcome || outcome.error().code() != errc::lease_lost)
                    return answer(std::move(outcome));
                  when_answered(entries_.insert(key, value), answer);
                });
}

} // namespace hearth::server
