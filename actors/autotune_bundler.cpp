#include "actors/autotune_bundler.hpp"

#include "actors/shared_promise.hpp"
#include "actors/timeouts.hpp"
#include "actors/update_entry.hpp"
#include "messages/key.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace hearth::actors {
namespace {

tuning_bundle bundle_in(const lookup& found) {
  if (!found.hit()) return {};
  return decode_bundle(found.value.payload()).value_or(tuning_bundle{});
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
                  [begun](const expected<update_outcome>&) { end_one(begun); });
}

void begin_with(autotune_bundler_pointer self, std::uint64_t id, tuning_bundle bundle,
                const named_cache_ptr& local, const shared_promise<bundle_session>& promise) {
  const bundle_session answer{id, bundle.size(), time_taken_ns(bundle), !bundle.empty()};
  const auto at = self->state.sessions.find(id);
  if (bundle.empty() || at == self->state.sessions.end()) return promise.deliver(answer);
  fill_local(self, bundle, local, std::make_shared<beginning>(beginning{answer, 0, promise}));
  at->second.known = std::move(bundle);
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
  self->request(state.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then([=](const lookup& found) { begin_with(self, id, bundle_in(found), local, promise); },
            [=](const caf::error&) { promise.deliver(bundle_session{id}); });
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

// The stored bundle and the session's tunings together. If the stored bundle cannot be read, the
// one from the session's begin is used.
tuning_bundle union_with(const expected<lookup>& stored,
                         const autotune_bundler_state::session& ended) {
  auto bundle = stored ? bundle_in(*stored) : ended.known;
  for (const auto& [name, tuning] : ended.collected)
    bundle.insert_or_assign(name, tuning);
  return bundle;
}

// Holds the lock of the bundle's key, because sessions of other processes may add to the bundle at
// the same time.
void store_union(autotune_bundler_pointer self, autotune_bundler_state::session ended,
                 const shared_promise<bundle_end>& promise) {
  const auto key = ended.key;
  const auto& shard = self->state.shards.owner_of(key);
  const auto answer = std::make_shared<bundle_end>(bundle_end{0, true});
  update_under_lock(
      self, shard, key, without_lock::goes_on, // a bundle is stored even without the lock
      [answer, ended = std::move(ended)](
          const expected<lookup>& stored) -> expected<std::optional<artifact>> {
        const auto bundle = union_with(stored, ended);
        answer->entries = bundle.size();
        return std::optional(artifact::make(encode_bundle(bundle)));
      },
      [answer, promise](const expected<update_outcome>& outcome) {
        if (outcome)
          promise.deliver(*answer);
        else
          promise.deliver(to_caf(outcome.error()));
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
  store_union(self, std::move(node.mapped()), promise);
  return promise.promise();
}

} // namespace

std::string encode_bundle(const tuning_bundle& bundle) {
  value::map entries;
  for (const auto& [name, record] : bundle)
    entries[name] = to_fields(record);
  return encode(value{std::move(entries)});
}

expected<tuning_bundle> decode_bundle(std::string_view bytes) {
  const auto decoded = decode_value(bytes);
  if (!decoded) return fail(decoded.error().within("bundle of tunings"));
  const auto* entries = decoded->as<value::map>();
  if (!entries) return fail(errc::malformed, "bundle of tunings: expected a map");
  tuning_bundle bundle;
  for (const auto& [name, fields] : *entries) {
    const auto* map = fields.as<value::map>();
    if (auto record = map ? record_of_fields(*map) : fail(errc::malformed, ""))
      bundle.emplace(name, std::move(*record));
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
