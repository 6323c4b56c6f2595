#include "runtime/server/connection/held_leases.hpp"

#include <utility>

namespace hearth::server {

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
  counters.held_now -= waiting_;
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

// Takes a place among the misses that wait.
bool held_leases::may_wait() {
  auto& counters = context_.counters;
  if (leases_.size() + waiting_ < max_leases) {
    if (counters.held_now.fetch_add(1) < context_.hold().max_held) {
      ++waiting_;
      ++counters.held_total;
      return true;
    }
    --counters.held_now;
  }
  ++counters.held_refused;
  return false;
}

void held_leases::acquire(const std::string& key, const lookup_callback& answer) {
  when_answered(entries_.acquire(key, context_.hold().wait),
                [this, key, answer](expected<lease_reply> reply) {
                  --waiting_;
                  --context_.counters.held_now;
                  take_reply(key, std::move(reply), answer);
                });
}

void held_leases::take_reply(const std::string& key, expected<lease_reply> reply,
                             const lookup_callback& answer) {
  if (!reply) {
    // The lookup itself was answered: whatever ends the wait, it was a miss.
    if (reply.error().code() == errc::timeout) ++context_.counters.held_deadlines;
    return answer(lookup{});
  }
  if (reply->found.hit()) {
    ++context_.counters.held_hits;
    return answer(std::move(reply->found));
  }
  if (reply->lease) hold(key, reply->lease.take());
  answer(lookup{});
}

void held_leases::hold(const std::string& key, lease_id lease) {
  // Two lookups of one connection that waited together: the first lease is the one to keep.
  const held one{lease, std::chrono::steady_clock::now()};
  if (!leases_.emplace(key, one).second) return entries_.release(key, lease);
  ++context_.counters.holders_now;
  host_.post_after(context_.hold().holder, [this, alive = std::weak_ptr(alive_), key, lease] {
    if (!alive.expired()) end_hold(key, lease);
  });
}

bool held_leases::abandon(std::string_view key) {
  const auto lease = take_lease(key);
  if (lease == 0) return false;
  entries_.release(key, lease);
  ++context_.counters.holders_ended;
  return true;
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
