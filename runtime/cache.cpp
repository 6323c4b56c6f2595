#include "runtime/cache.hpp"

#include "runtime/core.hpp"

#include <caf/send.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <exception>
#include <string>
#include <utility>

namespace hearth {
namespace {

using std::chrono::steady_clock;

template <class T>
using state_ptr = std::shared_ptr<completion_state<T>>;

expected<cache_key> keyed(const named_cache_ptr& in, const key& k) {
  if (k.encoded().size() > max_key_bytes)
    return fail(errc::invalid_key, "a key of " + std::to_string(k.encoded().size()) + " bytes; " +
                                       std::to_string(max_key_bytes) + " are allowed");
  return cache_key(in, k.encoded());
}

expected<void> check(const artifact& value) {
  if (!value) return fail(errc::invalid_value, "an empty artifact: make one first");
  if (value.metadata_bytes().size() > max_metadata_bytes)
    return fail(errc::too_large, "metadata above 16 MiB");
  return {};
}

// Sends `parts...` and a completion to the shard that owns the key; the future of the answer.
template <class T, class... Parts>
future<T> send(runtime_core& core, const cache_key& key, std::shared_ptr<void> ticket,
               const Parts&... parts) {
  auto state = std::make_shared<completion_state<T>>();
  caf::anon_send(core.shards().owner_of(key), parts..., completion<T>(state, std::move(ticket)));
  return future<T>(std::move(state));
}

// The same within the bound on what is outstanding. Who holds a lease is not bounded: those who
// fill the bound may wait for what it makes.
template <class T, class... Parts>
future<T> ask(runtime_core& core, const cache_key& key, const Parts&... parts) {
  if (auto no = core.refusal()) return expected<T>(fail(*no));
  if (core.ledger().holds_any(lease_ledger::this_thread()))
    return send<T>(core, key, nullptr, parts...);
  auto ticket = core.take_ticket();
  if (!ticket) return expected<T>(fail(ticket.error()));
  return send<T>(core, key, std::move(*ticket), parts...);
}

// The tiers that any thread may read: memory, then disk. Nothing when neither has it.
std::optional<expected<lookup>> look(runtime_core& core, const cache_key& key) {
  auto& view = core.view_of(key.memory_hash);
  if (key.cache->memory)
    if (auto value = view.get({key.cache->number, key.bytes, key.memory_hash}))
      return lookup{tier::memory, std::move(value)};
  const auto& store = core.store();
  if (!key.cache->disk || !store) return std::nullopt;
  const auto epoch = store->epoch(store->shard_of(key.disk_hash));
  auto read = store->get({key.cache->id, key.bytes, key.disk_hash});
  if (read.status == storage::read_status::corrupt)
    return fail(errc::corrupt, "the stored entry of cache '" + key.cache->id.name() +
                                   "' failed its checksum and was dropped; insert it again");
  if (read.status != storage::read_status::hit) return std::nullopt;
  if (key.cache->memory && !core.refusal() && view.begin_promotion())
    caf::anon_send(core.shards().owner_of(key), verb::promote_v, key, read.value, epoch);
  return lookup{tier::disk, std::move(read.value)};
}

template <class T>
expected<void> without_value(expected<T> result) {
  if (!result) return fail(result.error());
  return {};
}

expected<artifact> run_callback(const compile_function& compile) {
  try {
    auto made = compile();
    if (made && !*made) return fail(errc::invalid_value, "the compile callback made no artifact");
    return made;
  } catch (const std::exception& e) {
    return fail(errc::compile_failed, std::string("the compile callback threw: ") + e.what());
  } catch (...) {
    return fail(errc::compile_failed, "the compile callback threw something that is no exception");
  }
}

// A lease in this thread's hands: abandoned when it goes without having been fulfilled.
class held_lease {
public:
  held_lease(runtime_core& core, cache_key key, lease_id id)
      : core_(core)
      , key_(std::move(key))
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

  // Gives the artifact to everybody; what everybody has is answered. Outside the bound: those who
  // fill it may wait for this very artifact.
  expected<artifact> fulfil(const artifact& made) {
    if (core_.refusal()) return made;
    auto outcome =
        send<insert_outcome>(core_, key_, nullptr, verb::fulfil_v, std::exchange(id_, 0), made)
            .get();
    if (!outcome) {
      core_.log(log_level::warning, "a compiled artifact was not kept: " + outcome.error().text());
      return made;
    }
    if (*outcome == insert_outcome::inserted) return made;
    auto stored = look(core_, key_);
    return stored && *stored ? (*stored)->value : made;
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

expected<artifact> make_under_lease(runtime_core& core, const cache_key& key, lease_id id,
                                    const compile_function& compile) {
  held_lease lease(core, key, id);
  auto made = run_callback(compile);
  if (made) return lease.fulfil(*made);
  lease.abandon(made.error());
  return made;
}

// Waits for the lease, or for what somebody else makes, unless that could never end.
expected<lease_reply> wait_for_lease(runtime_core& core, const cache_key& key,
                                     std::optional<std::chrono::milliseconds> deadline) {
  const auto self = lease_ledger::this_thread();
  const bool nested = core.ledger().holds_any(self);
  const error cycle{errc::lease_cycle,
                    "waiting for key " +
                        key::decode(key.bytes).value_or(::hearth::key("?")).describe() +
                        " could never end: whoever makes it waits for what this callback makes"};
  if (nested && !core.ledger().begin_wait(self, key)) return fail(cycle);
  if (nested && !deadline) deadline = core.settings().nested_lease_deadline;
  auto answer = ask<lease_reply>(core, key, verb::acquire_v, key);
  auto reply = deadline ? answer.get_for(*deadline) : answer.get();
  if (nested) core.ledger().end_wait(self);
  return reply;
}

} // namespace

expected<lookup> cache::get(const key& k) const {
  auto answer = get_async(k);
  return answer.get();
}

future<lookup> cache::get_async(const key& k) const {
  const auto key = keyed(cache_, k);
  if (!key) return expected<lookup>(fail(key.error()));
  if (auto found = look(*core_, *key)) return std::move(*found);
  return expected<lookup>(lookup{}); // no remote tier is wired: nobody is left to ask
}

future<insert_outcome> cache::insert_async(const key& k, const artifact& value) const {
  const auto key = keyed(cache_, k);
  if (!key) return expected<insert_outcome>(fail(key.error()));
  if (auto good = check(value); !good) return expected<insert_outcome>(fail(good.error()));
  return ask<insert_outcome>(*core_, *key, verb::insert_v, *key, value);
}

expected<insert_outcome> cache::insert(const key& k, const artifact& value) const {
  return insert_async(k, value).get();
}

future<done> cache::put_async(const key& k, const artifact& value) const {
  const auto key = keyed(cache_, k);
  if (!key) return expected<done>(fail(key.error()));
  if (auto good = check(value); !good) return expected<done>(fail(good.error()));
  return ask<done>(*core_, *key, verb::put_v, *key, value);
}

expected<void> cache::put(const key& k, const artifact& value) const {
  return without_value(put_async(k, value).get());
}

future<bool> cache::erase_async(const key& k) const {
  const auto key = keyed(cache_, k);
  if (!key) return expected<bool>(fail(key.error()));
  return ask<bool>(*core_, *key, verb::erase_v, *key);
}

expected<bool> cache::erase(const key& k) const { return erase_async(k).get(); }

expected<artifact> cache::get_or_compile(const key& k, const compile_function& compile,
                                         std::optional<std::chrono::milliseconds> deadline) const {
  const auto key = keyed(cache_, k);
  if (!key) return fail(key.error());
  if (const auto found = look(*core_, *key); found && *found) return (*found)->value;
  auto reply = wait_for_lease(*core_, *key, deadline);
  if (!reply) return fail(reply.error());
  if (reply->found.hit()) return reply->found.value;
  return make_under_lease(*core_, *key, reply->lease, compile);
}

future<artifact> cache::get_or_compile_async(const key& k, compile_function compile) const {
  const auto key = keyed(cache_, k);
  if (!key) return expected<artifact>(fail(key.error()));
  if (const auto found = look(*core_, *key); found && *found)
    return expected<artifact>((*found)->value);
  auto state = std::make_shared<completion_state<artifact>>();
  completion<artifact> answer(state);
  auto lease = ask<lease_reply>(*core_, *key, verb::acquire_v, *key);
  lease.then([core = core_, key = *key, compile = std::move(compile),
              answer](expected<lease_reply> reply) {
    if (!reply) return static_cast<void>(answer.deliver(fail(reply.error())));
    if (reply->found.hit()) return static_cast<void>(answer.deliver(reply->found.value));
    // This is an actor's thread: the callback gets one that it may block.
    core->system().spawn<caf::detached>(
        [core, key, compile, answer](caf::event_based_actor*, lease_id id) {
          answer.deliver(make_under_lease(*core, key, id, compile));
        },
        reply->lease);
  });
  return future<artifact>(std::move(state));
}

} // namespace hearth
