#include "actors/autotune_bundler.hpp"

#include "actors/growing_set.hpp"
#include "actors/replace_entry.hpp"
#include "actors/shared_promise.hpp"
#include "actors/timeouts.hpp"
#include "messages/key.hpp"
#include "messages/set_kind.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace hearth::actors {
namespace {

constexpr auto bundle_limits = tuning_sets.limits;

// The set of a bundle: ids are names of tunings, contents are records.
cache_key tunings_key(const cache_key& bundle) {
  return derived_key(bundle, key(tuning_sets.part));
}

std::vector<set_member> members_in_bundle(const tuning_bundle& bundle) {
  std::vector<set_member> members;
  for (const auto& [name, record] : bundle)
    members.push_back({name, encode(value(to_fields(record)))});
  return members;
}

// The records of a bundle of the earlier form that can be read.
tuning_bundle bundle_in_entry(std::string_view bytes) {
  tuning_bundle bundle;
  const auto decoded = decode_value(bytes);
  const auto* entries = decoded ? decoded->as<value::map>() : nullptr;
  if (!entries) return bundle;
  for (const auto& [name, fields] : *entries) {
    const auto* map = fields.as<value::map>();
    if (auto record = map ? record_of_fields(*map) : fail(errc::malformed, ""))
      bundle.emplace(name, std::move(*record));
  }
  return bundle;
}

// The bundle of the earlier form, which was one entry.
earlier_form earlier_bundle(const cache_key& key) {
  return {key, [](const artifact& stored) {
            return members_in_bundle(bundle_in_entry(stored.payload()));
          }};
}

std::int64_t time_taken_ns(const tuning_bundle& bundle) {
  std::int64_t sum = 0;
  for (const auto& [name, record] : bundle)
    if (__builtin_add_overflow(sum, record.time_taken_ns, &sum)) return sum;
  return sum;
}

// --- begin -------------------------------------------------------------------------------------

// A session whose bundle was found. The session begins when every entry of the bundle is in the
// local cache.
struct beginning {
  bundle_session answer;
  std::size_t open = 0;
  shared_promise<bundle_session> promise;
};

void end_one(const std::shared_ptr<beginning>& begun) {
  if (--begun->open == 0) begun->promise.deliver(begun->answer);
}

void fill_local(autotune_bundler_pointer self, const tuning_bundle& bundle,
                const named_cache_ptr& local, const std::shared_ptr<beginning>& begun) {
  begun->open = bundle.size();
  for (const auto& [name, record] : bundle)
    replace_entry(self, self->state.shards, cache_key(local, key(name).encoded()),
                  artifact::make(encode_record(record)),
                  [begun](const expected<done>&) { end_one(begun); });
}

void begin_with(autotune_bundler_pointer self, std::uint64_t id, const member_set& members,
                const named_cache_ptr& local, const shared_promise<bundle_session>& promise) {
  auto bundle = bundle_of(members);
  const bundle_session answer{id, bundle.size(), time_taken_ns(bundle), !bundle.empty()};
  const auto at = self->state.sessions.find(id);
  if (bundle.empty() || at == self->state.sessions.end()) return promise.deliver(answer);
  fill_local(self, bundle, local, std::make_shared<beginning>(beginning{answer, 0, promise}));
  at->second.known = std::move(bundle);
  at->second.latest_stamp = members.latest_stamp();
}

caf::result<bundle_session> begin(autotune_bundler_pointer self, const cache_key& key,
                                  const named_cache_ptr& local) {
  const shared_promise<bundle_session> promise(self->make_response_promise<bundle_session>());
  auto& state = self->state;
  if (state.sessions.size() >= state.max_sessions) {
    promise.deliver(to_caf({errc::overloaded, "1,024 sessions of tuning are open: finish some"}));
    return promise.promise();
  }
  const auto id = ++state.last_session;
  state.sessions[id].key = key;
  refresh_set(self, state.shards, tunings_key(key), bundle_limits, earlier_bundle(key),
              [=](const known_set& found) { begin_with(self, id, found.members, local, promise); });
  return promise.promise();
}

// --- record ------------------------------------------------------------------------------------

void record(autotune_bundler_state& state, std::uint64_t id, const std::string& name,
            const autotune_record& tuning) {
  const auto at = state.sessions.find(id);
  if (at == state.sessions.end()) return;
  auto& collected = at->second.collected;
  if (collected.size() < state.max_entries || collected.contains(name))
    collected.insert_or_assign(name, tuning);
}

// --- finish ------------------------------------------------------------------------------------

bool says_more(const tuning_bundle& collected, const tuning_bundle& known) {
  return std::any_of(collected.begin(), collected.end(), [&](const auto& one) {
    const auto at = known.find(one.first);
    return at == known.end() || !(at->second == one.second);
  });
}

// The session's tunings as members, later than every tuning that the session or the fleet knows.
member_set members_to_add(const autotune_bundler_state::session& ended, const member_set& stored) {
  const auto stamp = std::max(ended.latest_stamp, stored.latest_stamp()) + 1;
  member_set members;
  for (auto& member : members_in_bundle(ended.collected)) {
    member.stamp = stamp;
    members.add(std::move(member));
  }
  return members;
}

// Adds the session's tunings to the bundle. Sessions of other processes and hosts may add theirs at
// the same time.
void store_tunings(autotune_bundler_pointer self, const autotune_bundler_state::session& ended,
                   const shared_promise<bundle_end>& promise) {
  const auto set = tunings_key(ended.key);
  refresh_set(self, self->state.shards, set, bundle_limits, earlier_bundle(ended.key),
              [=](const known_set& found) {
                set_change change;
                change.joined = members_to_add(ended, found.members);
                change.limits = bundle_limits;
                auto all = bundle_of(found.members);
                for (const auto& known : {ended.known, ended.collected})
                  all.insert(known.begin(), known.end());
                const bundle_end answer{all.size(), true};
                change_set(self, self->state.shards, set, std::move(change),
                           [=](const expected<set_reply>& reply) {
                             if (reply)
                               promise.deliver(answer);
                             else
                               promise.deliver(to_caf(reply.error()));
                           });
              });
}

caf::result<bundle_end> finish(autotune_bundler_pointer self, std::uint64_t id) {
  const shared_promise<bundle_end> promise(self->make_response_promise<bundle_end>());
  const auto node = self->state.sessions.extract(id);
  if (node.empty()) {
    promise.deliver(to_caf({errc::not_found, "there is no session " + std::to_string(id) +
                                                 ": it has ended, or never began"}));
    return promise.promise();
  }
  const auto& ended = node.mapped();
  if (!says_more(ended.collected, ended.known)) {
    promise.deliver(bundle_end{ended.known.size(), false});
    return promise.promise();
  }
  store_tunings(self, node.mapped(), promise);
  return promise.promise();
}

} // namespace

tuning_bundle bundle_of(const member_set& members) {
  tuning_bundle bundle;
  for (const auto& member : members.members()) {
    const auto fields = decode_value(member.content);
    const auto* map = fields ? fields->as<value::map>() : nullptr;
    if (auto record = map ? record_of_fields(*map) : fail(errc::malformed, ""))
      bundle.emplace(member.id, std::move(*record));
  }
  return bundle;
}

autotune_bundler_actor::behavior_type autotune_bundler(autotune_bundler_pointer self,
                                                       shard_router shards) {
  self->state.shards = std::move(shards);
  return {
      [self](verb::begin, const cache_key& key, const named_cache_ptr& local) {
        return begin(self, key, local);
      },
      [self](verb::record, std::uint64_t id, const std::string& name,
             const autotune_record& tuning) { record(self->state, id, name, tuning); },
      [self](verb::finish, std::uint64_t id) { return finish(self, id); },
      [self](verb::abandon, std::uint64_t id) { self->state.sessions.erase(id); },
  };
}

} // namespace hearth::actors
