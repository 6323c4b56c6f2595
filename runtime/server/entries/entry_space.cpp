#include "runtime/server/entries/entry_space.hpp"

#include "actors/thread_unit.hpp"
#include "messages/digest.hpp"
#include "messages/hash.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/compile_lease.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/server/entries/chain.hpp"
#include "runtime/server/entries/http_keys.hpp"
#include "runtime/server/entries/scan_cursor.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace hearth::server {
namespace {

// The member of a value's metadata that has a long key.
constexpr std::string_view key_member = "key";

// A longer key is stored under its digest, since a key of a cache is shorter than Redis's may be.
constexpr std::size_t longest_plain_key_bytes = 60'000;

bool is_long(std::string_view raw) { return raw.size() > longest_plain_key_bytes; }

key key_of(std::string_view raw) {
  if (!is_long(raw)) return key::bytes(raw);
  return key::tuple({key::text("long"), key::bytes(sha256(raw).view())});
}

cache_key named_key(const cache& in, std::string_view raw) {
  return {internals::name(in), key_of(raw).encoded()};
}

// The value to store under this key: a long key is kept with it, for `list`.
artifact value_for(std::string_view raw, const artifact& value) {
  if (!is_long(raw)) return value;
  auto members = value.metadata().value_or(value::map{});
  members.insert_or_assign(std::string(key_member), binary{std::string(raw)});
  return artifact::make(value.payload(), members);
}

bool is_expired_hit(const lookup& found) { return found.hit() && has_expired(found.value); }

expected<lookup> without_expired(expected<lookup> found) {
  if (found && is_expired_hit(*found)) return lookup{};
  return found;
}

future<lookup> get_from(const cache& in, const key& k) {
  return chain<lookup>(in.get_async(k), [](expected<lookup> found) -> future<lookup> {
    return without_expired(std::move(found));
  });
}

// What the owner of the key finds. While an entry of its disk shard is changed, other threads read
// the store only, and pass over what memory alone has.
future<lookup> get_from_owner(const cache& in, const key& k) {
  auto& core = *internals::core(in);
  const auto& name = internals::name(in);
  if (!core.store() || core.asks_remote(*name)) return get_from(in, k);
  return chain<lookup>(
      engine::ask_async<lookup>(core, {}, verb::get_v, {name, k.encoded()}),
      [](expected<lookup> found) -> future<lookup> { return without_expired(std::move(found)); });
}

// The entry as a change finds it.
future<changed_entry> look(const cache& own, const std::optional<cache>& trusted, const key& k) {
  return chain<changed_entry>(
      get_from_owner(own, k), [trusted, k](expected<lookup> found) -> future<changed_entry> {
        if (!found) return expected<changed_entry>(fail(found.error()));
        if (found->hit() || !trusted) {
          const bool is_own = found->hit();
          return changed_entry{std::move(*found), is_own, false};
        }
        return chain<changed_entry>(get_from(*trusted, k),
                                    [](expected<lookup> shared) -> future<changed_entry> {
                                      if (!shared)
                                        return expected<changed_entry>(fail(shared.error()));
                                      return changed_entry{std::move(*shared), false, false};
                                    });
      });
}

// The answer of a change that was carried out, or could not be.
template <class T>
future<changed_entry> carried_out(future<T> write, changed_entry entry) {
  return chain<changed_entry>(std::move(write),
                              [entry](expected<T> answer) -> future<changed_entry> {
                                if (!answer) return expected<changed_entry>(fail(answer.error()));
                                auto result = entry;
                                result.changed = true;
                                return result;
                              });
}

future<changed_entry> carry_out(const cache& own, const key& k, const entry_change& change,
                                changed_entry entry) {
  using kind = entry_change::kind;
  switch (change.what) {
  case kind::keep: return entry;
  case kind::put: return carried_out(own.put_async(k, change.value), std::move(entry));
  case kind::erase: return carried_out(own.erase_async(k), std::move(entry));
  }
  return entry;
}

// Begins a change in its turn, which ends when the change's answer has come. `ended` is told the
// answer before the caller.
template <class T, class Begin, class Work, class Ended>
future<T> in_turn(const Begin& begin, Work work, Ended ended) {
  auto state = std::make_shared<completion_state<T>>();
  const completion<T> answer(state);
  begin([answer, work = std::move(work), ended = std::move(ended)](change_order::turn turn) {
    work().then([answer, turn = std::move(turn), ended](expected<T> result) mutable {
      // Whoever hears the answer may begin the next change at once.
      turn.reset();
      ended(result);
      answer.deliver(std::move(result));
    });
  });
  return future<T>(std::move(state));
}

// The key of an entry as clients know it, or nothing if it is not theirs.
std::optional<std::string> raw_key(std::string_view encoded, const artifact& value) {
  if (const auto members = value.metadata())
    if (const auto found = members->find(std::string(key_member)); found != members->end())
      if (const auto* const raw = found->second.as<binary>()) return raw->bytes;
  const auto decoded = decode_value(encoded);
  const auto* const raw = decoded ? decoded->as<binary>() : nullptr;
  return raw ? std::optional(raw->bytes) : std::nullopt;
}

using entry_visitor = std::function<bool(std::string_view key, std::uint64_t bytes)>;

// An entry as lists have it.
struct listed_entry {
  std::string key;
  entry_type type = entry_type::string;
};

std::optional<listed_entry> listed(std::optional<std::string> key, std::string_view metadata) {
  if (!key) return std::nullopt;
  return listed_entry{std::move(*key), type_in(metadata)};
}

// An entry that the store lists; nothing if it is not of this cache, or has expired.
std::optional<listed_entry> listed_in(const cache& in, const storage::entry_info& entry) {
  if (entry.cache != in.id().name() || entry.version != in.id().version()) return std::nullopt;
  if (entry.metadata_bytes == 0) return listed(raw_key(entry.key, {}), {});
  if (entry.metadata.empty()) return std::nullopt; // damaged: a lookup finds nothing
  const auto about = artifact::make("", entry.metadata);
  if (has_expired(about)) return std::nullopt;
  return listed(raw_key(entry.key, about), entry.metadata);
}

expected<entry_list> entries_in_memory(engine::runtime_core& core, const cache& in,
                                       const memory_shard_actor& shard) {
  return engine::ask_actor<entry_list>(core, shard, verb::list_v, internals::name(in)->number);
}

expected<void> list_memory(engine::runtime_core& core, const cache& in,
                           const entry_visitor& visit) {
  for (const auto& shard : core.shards().all()) {
    const auto entries = entries_in_memory(core, in, shard);
    if (!entries) return fail(entries.error());
    for (const auto& [encoded, value] : *entries) {
      const auto raw = has_expired(value) ? std::nullopt : raw_key(encoded, value);
      if (raw && !visit(*raw, value.payload().size())) return {};
    }
  }
  return {};
}

// Whether an entry of the memory tier, which the store may have evicted, is one that lookups find:
// another process may have changed it.
bool is_found(const cache& in, std::string_view raw) {
  const auto found = in.get(key_of(raw));
  return found && found->hit();
}

bool is_stored(storage::store& in, const cache_key& k) {
  return in.get(storage::entry_key(k)).status == storage::read_status::hit;
}

// The store's entries, then those that memory alone has.
expected<void> list_tiers(engine::runtime_core& core, const cache& in, const entry_visitor& visit) {
  std::unordered_map<std::string, std::uint64_t> in_memory; // sizes by raw keys
  const auto noted = list_memory(core, in, [&](std::string_view raw, std::uint64_t bytes) {
    in_memory.emplace(raw, bytes);
    return true;
  });
  if (!noted) return noted;
  bool goes_on = true;
  const auto stored = core.store()->list([&](const storage::entry_info& entry) {
    const auto one = listed_in(in, entry);
    if (!one) return true;
    in_memory.erase(one->key);
    goes_on = visit(one->key, entry.payload_bytes);
    return goes_on;
  });
  if (!stored) return stored;
  for (auto at = in_memory.begin(); goes_on && at != in_memory.end(); ++at)
    if (is_found(in, at->first)) goes_on = visit(at->first, at->second);
  return {};
}

// What a page of a scan holds, and when it is full.
class page_filler {
public:
  using choice = std::function<bool(std::string_view, entry_type)>;

  page_filler(std::size_t count, const choice& wanted)
      : count_(std::clamp<std::size_t>(count, 1, max_count))
      , wanted_(wanted) {}

  /// Takes an entry; nothing: it is none of the namespace. Returns whether there is room for more.
  bool take(std::optional<listed_entry> one) {
    ++seen_;
    if (one) {
      ++own_;
      if (wanted_(one->key, one->type)) {
        bytes_ += one->key.size();
        page_.keys.push_back(std::move(one->key));
      }
    }
    return !is_full();
  }
  bool is_full() const {
    return own_ >= count_ || seen_ >= std::max(count_, max_seen) || bytes_ >= max_bytes;
  }
  key_page finish(std::uint64_t next) {
    page_.next = next;
    return std::move(page_);
  }

private:
  static constexpr std::size_t max_count = 10'000;
  static constexpr std::size_t max_seen = 1'000; // where the store holds mostly other caches
  static constexpr std::size_t max_bytes = 1u << 20;

  const std::size_t count_;
  const choice& wanted_;
  std::size_t own_ = 0, seen_ = 0, bytes_ = 0;
  key_page page_;
};

expected<key_page> scan_memory(engine::runtime_core& core, const cache& in,
                               storage::scan_place place, page_filler page);

// Behind the store's shards come those of memory.
expected<key_page> scan_tiers(engine::runtime_core& core, const cache& in,
                              storage::scan_place place, page_filler page) {
  auto& from = *core.store();
  constexpr unsigned max_steps = 16; // of an index with few entries
  for (unsigned step = 0; step < max_steps && !page.is_full(); ++step) {
    const auto next = from.scan(
        place, [&](const storage::entry_info& entry) { return page.take(listed_in(in, entry)); });
    if (!next) return fail(next.error());
    if (!*next) {
      const storage::scan_place memory{from.shards(), 0, 0};
      return page.is_full() ? page.finish(cursor_of(memory))
                            : scan_memory(core, in, memory, std::move(page));
    }
    place = **next;
  }
  return page.finish(cursor_of(place));
}

// The bucket of a scan that an entry of a memory shard is in: the upper bits of its key's hash.
std::uint64_t memory_bucket(const cache& in, const std::string& encoded) {
  constexpr unsigned bits = 37;
  return cache_key(internals::name(in), encoded).disk_hash >> (64 - bits);
}

// The entries of a memory shard from a bucket on, in the order of their buckets.
std::vector<std::pair<std::uint64_t, const entry_list::value_type*>>
ordered_from(std::uint64_t bucket, const cache& in, const entry_list& entries) {
  std::vector<std::pair<std::uint64_t, const entry_list::value_type*>> ordered;
  for (const auto& entry : entries)
    if (const auto place = memory_bucket(in, entry.first); place >= bucket)
      ordered.emplace_back(place, &entry);
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

// The entries that memory alone has. A shard's are listed for each page.
expected<key_page> scan_memory(engine::runtime_core& core, const cache& in,
                               storage::scan_place place, page_filler page) {
  auto* const store = core.store().get();
  const unsigned first = store ? store->shards() : 0;
  const auto& shards = core.shards().all();
  for (; place.shard < first + shards.size(); ++place.shard, place.bucket = 0) {
    const auto entries = entries_in_memory(core, in, shards[place.shard - first]);
    if (!entries) return fail(entries.error());
    for (const auto& [bucket, entry] : ordered_from(place.bucket, in, *entries)) {
      if (page.is_full() && bucket != place.bucket) {
        place.bucket = bucket;
        return page.finish(cursor_of(place));
      }
      place.bucket = bucket;
      const auto& [encoded, value] = *entry;
      auto key = has_expired(value) ? std::nullopt : raw_key(encoded, value);
      const bool is_elsewhere =
          key && store &&
          (is_stored(*store, {internals::name(in), encoded}) || !is_found(in, *key));
      if (is_elsewhere) key.reset();
      page.take(listed(std::move(key), value.metadata_bytes()));
    }
  }
  return page.finish(0);
}

// The place of a key in the order of changes.
std::uint64_t hash_of(const cache& in, std::string_view raw) {
  return fast_hash(raw, in.id().seed());
}

error not_over_this_protocol() {
  return {errc::permission,
          "keys that begin as this one are those of HTTP clients; store the value over HTTP"};
}

// The same in every namespace: a client waits for the values of the trusted one, too.
std::uint64_t watch_hash(std::string_view raw) { return fast_hash(raw, 0); }

void release_in(const cache& in, std::string_view raw, lease_id lease) {
  auto& core = *internals::core(in);
  if (core.refusal()) return;
  actors::send_from_thread(core.shards().owner_of(named_key(in, raw)), verb::release_v, lease);
}

// A caller that cancels `later` cancels `first`, too.
template <class T>
future<T> cancelling(future<T> later, const std::weak_ptr<completion_state<T>>& first) {
  if (const auto state = later.state())
    state->on_give_up([first] {
      if (const auto living = first.lock())
        living->cancel({errc::cancelled, "the answer is no longer wanted"});
    });
  return later;
}

// Releases the lease of a reply that nobody takes: its caller may be gone.
future<lease_reply> release_unless_taken(const cache& in, const std::string& name,
                                         future<lease_reply> asked) {
  const std::weak_ptr waiting(asked.state());
  auto offered = chain<lease_reply>(
      std::move(asked), [in, name](expected<lease_reply> reply) -> future<lease_reply> {
        if (reply && reply->lease) {
          const auto lease = reply->lease.take();
          reply->lease = offered_lease(lease, [in, name, lease] { release_in(in, name, lease); });
        }
        return reply;
      });
  return cancelling(std::move(offered), waiting);
}

// Asks for the lease on a key that has no entry.
future<lease_reply> ask_for(const cache& in, const std::string& name,
                            std::chrono::milliseconds deadline) {
  auto& core = *internals::core(in);
  // Never zero: a lease that is free needs a message, too.
  const auto options = call_options().within(std::max(deadline, std::chrono::milliseconds(1)));
  auto asked = engine::ask_for_lease(core, named_key(in, name), options);
  if (const auto& state = asked.state()) engine::expire(core, state, options);
  return release_unless_taken(in, name, std::move(asked));
}

future<lease_reply> lease_without_expired(expected<lease_reply> reply) {
  if (reply) reply->found = *without_expired(reply->found);
  return reply;
}

} // namespace

entry_space::entry_space(cache own, std::optional<cache> trusted,
                         std::shared_ptr<change_order> order)
    : own_(std::move(own))
    , trusted_(std::move(trusted))
    , order_(std::move(order)) {}

entry_space entry_space::without_http_writes() const {
  auto made = *this;
  made.may_write_http_ = false;
  return made;
}

future<lookup> entry_space::get(std::string_view raw) const {
  auto k = key_of(raw);
  if (!trusted_) return get_from(own_, k);
  return chain<lookup>(get_from(own_, k),
                       [trusted = *trusted_, k](expected<lookup> found) -> future<lookup> {
                         if (!found || found->hit()) return found;
                         return get_from(trusted, k);
                       });
}

future<layered_lookup> entry_space::get_layers(std::string_view raw) const {
  auto k = key_of(raw);
  return chain<layered_lookup>(
      get_from(own_, k), [trusted = trusted_, k](expected<lookup> own) -> future<layered_lookup> {
        if (!own) return expected<layered_lookup>(fail(own.error()));
        if (!trusted) return layered_lookup{std::move(*own), {}};
        return chain<layered_lookup>(
            get_from(*trusted, k),
            [own = std::move(*own)](expected<lookup> found) -> future<layered_lookup> {
              if (!found) return expected<layered_lookup>(fail(found.error()));
              return layered_lookup{own, std::move(*found)};
            });
      });
}

future<done> entry_space::put(std::string_view raw, const artifact& value) const {
  if (!may_write_http_ && is_http_key(raw)) return expected<done>(fail(not_over_this_protocol()));
  return in_turn<done>(
      [&](change_order::task task) { order_->begin(hash_of(own_, raw), std::move(task)); },
      [own = own_, k = key_of(raw), stored = value_for(raw, value)] {
        return own.put_async(k, stored);
      },
      [order = order_, hash = watch_hash(raw)](const expected<done>&) {
        order->stores().note_stored(hash);
      });
}

future<insert_outcome> entry_space::insert(std::string_view raw, const artifact& value) const {
  auto answer = change(raw, [value](const lookup& before, bool) -> entry_change {
    if (before.hit()) return {};
    return {entry_change::kind::put, value};
  });
  return chain<insert_outcome>(
      std::move(answer), [](expected<changed_entry> result) -> future<insert_outcome> {
        if (!result) return expected<insert_outcome>(fail(result.error()));
        return result->changed ? insert_outcome::inserted : insert_outcome::exists;
      });
}

future<bool> entry_space::erase(std::string_view raw) const {
  auto answer = change(raw, [](const lookup&, bool is_own) -> entry_change {
    return {is_own ? entry_change::kind::erase : entry_change::kind::keep, {}};
  });
  return chain<bool>(std::move(answer), [](expected<changed_entry> result) -> future<bool> {
    if (!result) return expected<bool>(fail(result.error()));
    return result->changed;
  });
}

future<changed_entry> entry_space::change(std::string_view raw, decision decide) const {
  return in_turn<changed_entry>(
      [&](change_order::task task) { order_->begin_alone(hash_of(own_, raw), std::move(task)); },
      [own = own_, trusted = trusted_, name = std::string(raw), decide = std::move(decide),
       may_put = may_write_http_ || !is_http_key(raw)] {
        const auto k = key_of(name);
        return chain<changed_entry>(
            look(own, trusted, k),
            [own, k, name, decide,
             may_put](expected<changed_entry> found) -> future<changed_entry> {
              if (!found) return found;
              auto what = decide(found->before, found->is_own);
              if (what.what == entry_change::kind::put && !may_put)
                return expected<changed_entry>(fail(not_over_this_protocol()));
              if (what.value) what.value = value_for(name, what.value);
              return carry_out(own, k, what, std::move(*found));
            });
      },
      [order = order_, hash = watch_hash(raw)](const expected<changed_entry>& result) {
        if (!result || result->changed) order->stores().note_stored(hash);
      });
}

store_watch::handle entry_space::watch(std::string_view raw, std::function<void()> told) const {
  return order_->stores().watch(watch_hash(raw), std::move(told));
}

future<lease_reply> entry_space::acquire(std::string_view raw,
                                         std::chrono::milliseconds deadline) const {
  return chain<lease_reply>(
      get(raw),
      [self = *this, name = std::string(raw),
       deadline](expected<lookup> found) -> future<lease_reply> {
        if (!found) return expected<lease_reply>(fail(found.error()));
        if (found->hit()) return lease_reply{std::move(*found), {}, false};
        auto asked = ask_for(self.own_, name, deadline);
        const std::weak_ptr waiting(asked.state());
        auto answer = chain<lease_reply>(
            std::move(asked),
            [self, name, deadline](expected<lease_reply> reply) -> future<lease_reply> {
              if (!reply || !is_expired_hit(reply->found)) return reply;
              // The leases take it for an entry: it goes, and the lease is free.
              return chain<lease_reply>(
                  self.drop_expired(name),
                  [self, name, deadline](const expected<done>& dropped) -> future<lease_reply> {
                    if (!dropped) return expected<lease_reply>(fail(dropped.error()));
                    return chain<lease_reply>(ask_for(self.own_, name, deadline),
                                              lease_without_expired);
                  });
            });
        return cancelling(std::move(answer), waiting);
      });
}

// Drops the own entry if it has expired.
future<done> entry_space::drop_expired(const std::string& name) const {
  return in_turn<done>(
      [&](change_order::task task) { order_->begin_alone(hash_of(own_, name), std::move(task)); },
      [own = own_, k = key_of(name)] {
        return chain<done>(own.get_async(k), [own, k](expected<lookup> found) -> future<done> {
          if (!found || !is_expired_hit(*found)) return done{};
          return chain<done>(own.erase_async(k), [](const expected<bool>& erased) -> future<done> {
            if (!erased) return expected<done>(fail(erased.error()));
            return done{};
          });
        });
      },
      [](const expected<done>&) {});
}

future<insert_outcome> entry_space::fulfil(std::string_view raw, lease_id lease,
                                           const artifact& value) const {
  if (!may_write_http_ && is_http_key(raw))
    return expected<insert_outcome>(fail(not_over_this_protocol()));
  auto& core = *internals::core(own_);
  const auto stored = value_for(raw, value);
  auto state = std::make_shared<completion_state<insert_outcome>>();
  if (auto no = core.refusal()) return expected<insert_outcome>(fail(*no));
  actors::send_from_thread(core.shards().owner_of(named_key(own_, raw)), verb::fulfil_v, lease,
                           stored, insert_completion(state));
  return chain<insert_outcome>(
      future<insert_outcome>(std::move(state)),
      [order = order_,
       hash = watch_hash(raw)](expected<insert_outcome> outcome) -> future<insert_outcome> {
        order->stores().note_stored(hash); // for those who wait in other namespaces
        return outcome;
      });
}

void entry_space::release(std::string_view raw, lease_id lease) const {
  release_in(own_, raw, lease);
}

expected<key_page> entry_space::scan(std::uint64_t cursor, std::size_t count,
                                     const page_filler::choice& wanted) const {
  const auto place = place_of(cursor);
  if (!place) return fail(errc::invalid_argument, "no page has had this cursor");
  auto& core = *internals::core(own_);
  page_filler page(count, wanted);
  const bool is_of_store = core.store() && place->shard < core.store()->shards();
  return is_of_store ? scan_tiers(core, own_, *place, std::move(page))
                     : scan_memory(core, own_, *place, std::move(page));
}

expected<void> entry_space::list(const entry_visitor& visit) const {
  auto& core = *internals::core(own_);
  return core.store() ? list_tiers(core, own_, visit) : list_memory(core, own_, visit);
}

} // namespace hearth::server
