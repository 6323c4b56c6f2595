#include "runtime/handle/cache.hpp"

#include "messages/expiry.hpp"
#include "messages/inline_hash.hpp"
#include "runtime/api/mapped_future.hpp"
#include "runtime/engine/calls/compile_lease.hpp"
#include "runtime/engine/calls/get_many.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/calls/saved_time.hpp"
#include "runtime/engine/calls/tiers.hpp"
#include "runtime/engine/core.hpp"

#include <utility>

namespace hearth {
namespace {

using engine::ask;
using engine::ask_async;
using engine::call;
using engine::called_off;
using engine::check_key;
using engine::compile_async;
using engine::compile_stop;
using engine::end_of;
using engine::expire;
using engine::find_in_memory;
using engine::find_locally;
using engine::find_on_disk;
using engine::found_outcome;
using engine::get_locally;
using engine::get_missing;
using engine::local_answers;
using engine::make_under_lease;
using engine::note_hits;
using engine::noting_hits;
using engine::over_at_once;
using engine::runtime_core;
using engine::saved_time_ptr;
using engine::wait;
using engine::wait_for_lease;
using engine::wanted_key;

error no_cache() { return {errc::invalid_argument, "an empty cache handle: open a cache first"}; }

expected<void> check_value(const artifact& value) {
  if (!value) return fail(errc::invalid_value, "an empty artifact: make one first");
  if (value.metadata_bytes().size() > max_metadata_bytes)
    return fail(errc::too_large, "metadata above 16 MiB");
  return {};
}

expected<cache_key> owned_key(const named_cache_ptr& in, const key& k) {
  if (!in) return fail(no_cache());
  if (auto good = check_key(k.encoded()); !good) return fail(good.error());
  return cache_key(in, k.encoded());
}

// The artifact with the expiry that the call's options ask for. That of the cache is the shard's.
artifact lasting(const artifact& value, const call_options& options) {
  return options.ttl().count() > 0 ? with_ttl(value, options.ttl()) : value;
}

expected<cache_key> owned_key(const named_cache_ptr& in, const key& k, const artifact& value) {
  if (auto good = check_value(value); !good) return fail(good.error());
  return owned_key(in, k);
}

// Whether the remote tier can be asked after a miss in this process.
bool asks_others(const runtime_core& core, const named_cache& cache) {
  return core.asks_remote(cache) && !core.refusal();
}

// Looks up a key below memory; empty when the remote tier has to be asked.
std::optional<expected<lookup>> get_below(runtime_core& core, const wanted_key& wanted) {
  if (auto good = check_key(wanted.bytes); !good) return fail(good.error());
  if (auto found = find_on_disk(core, wanted)) return found;
  if (asks_others(core, *wanted.cache)) return std::nullopt;
  storage::count_lookup(*wanted.cache, tier::none);
  return lookup{};
}

// Looks up a key that memory lacks: on disk, then in the remote tier.
[[gnu::noinline]] expected<lookup> get_elsewhere(runtime_core& core, const saved_time_ptr& saved,
                                                 const wanted_key& wanted,
                                                 const call_options& options) {
  auto found = get_below(core, wanted);
  if (!found) found = wait(ask<lookup>(core, options, verb::get_v, wanted.owned()), options);
  note_hits(saved, *found);
  return std::move(*found);
}

[[gnu::noinline]] future<lookup> get_elsewhere_async(runtime_core& core,
                                                     const saved_time_ptr& saved,
                                                     const wanted_key& wanted,
                                                     const call_options& options) {
  if (auto found = get_below(core, wanted)) {
    note_hits(saved, *found);
    return std::move(*found);
  }
  return noting_hits(saved, ask_async<lookup>(core, options, verb::get_v, wanted.owned()));
}

// The outcome of a look-up that needs no lease: a hit of this host, or why the call must not begin.
// Empty: the lease has to be asked for.
std::optional<expected<compile_outcome>> find_outcome(runtime_core& core,
                                                      const saved_time_ptr& saved,
                                                      const wanted_key& wanted,
                                                      const call_options& options) {
  if (options.stop().stop_requested()) return fail(called_off());
  if (auto good = check_key(wanted.bytes); !good) return fail(good.error());
  if (auto found = find_locally(core, wanted); found && *found) {
    note_hits(saved, *found);
    return compile_outcome{std::move((*found)->value), (*found)->from};
  }
  if (auto over = over_at_once(options)) return fail(*over);
  return std::nullopt;
}

// Notes a hit of this host; an error is none.
void note_found(engine::call_trace& trace, const expected<compile_outcome>& found) {
  if (found) trace.end_step("hit", found->from);
}

// The common path of every get. In a `flatten` caller a hit in memory makes no call; the key is
// built only for `elsewhere`.
template <class Answer, class Elsewhere>
[[gnu::always_inline]] inline Answer find(const std::shared_ptr<runtime_core>& core,
                                          const named_cache_ptr& in, const saved_time_ptr& saved,
                                          const key& k, const Elsewhere& elsewhere) {
  if (!core) [[unlikely]]
    return expected<lookup>(fail(no_cache()));
  const std::string_view bytes = k.encoded();
  const auto hash = inline_hash(bytes, in->memory_seed);
  if (auto value = find_in_memory(*core, *in, bytes, hash)) [[likely]] {
    note_hits(saved, value);
    return lookup{tier::memory, std::move(value)};
  }
  return elsewhere(wanted_key(in, bytes, hash));
}

// What is known of many keys without a message; `missing` are those to ask for.
local_answers find_many(const std::shared_ptr<runtime_core>& core, const named_cache_ptr& in,
                        std::span<const key> keys, const call_options& options) {
  if (!core) return {lookup_list(keys.size(), fail(no_cache())), {}};
  if (options.stop().stop_requested()) return {lookup_list(keys.size(), fail(called_off())), {}};
  auto known = get_locally(*core, in, keys);
  if (!asks_others(*core, *in)) {
    for (auto left = known.missing.size(); left > 0; --left)
      storage::count_lookup(*in, tier::none);
    known.missing.clear();
  }
  if (known.missing.empty()) return known;
  if (const auto over = over_at_once(options))
    for (const auto position : std::exchange(known.missing, {}))
      known.answers[position] = fail(*over);
  return known;
}

} // namespace

// --- get ---------------------------------------------------------------------------------------

[[gnu::flatten]] expected<lookup> cache::get(const key& k) const {
  return find<expected<lookup>>(core_, cache_, saved_, k, [&](const wanted_key& wanted) {
    return get_elsewhere(*core_, saved_, wanted, {});
  });
}

expected<lookup> cache::get(const key& k, const call_options& options) const {
  if (options.stop().stop_requested()) return fail(called_off());
  return find<expected<lookup>>(core_, cache_, saved_, k, [&](const wanted_key& wanted) {
    return get_elsewhere(*core_, saved_, wanted, options);
  });
}

[[gnu::flatten]] future<lookup> cache::get_async(const key& k) const {
  return find<future<lookup>>(core_, cache_, saved_, k, [&](const wanted_key& wanted) {
    return get_elsewhere_async(*core_, saved_, wanted, {});
  });
}

future<lookup> cache::get_async(const key& k, const call_options& options) const {
  if (options.stop().stop_requested()) return expected<lookup>(fail(called_off()));
  return find<future<lookup>>(core_, cache_, saved_, k, [&](const wanted_key& wanted) {
    return get_elsewhere_async(*core_, saved_, wanted, options);
  });
}

lookup_list cache::get_many(std::span<const key> keys, const call_options& options) const {
  auto known = find_many(core_, cache_, keys, options);
  expected<lookup_list> all;
  if (known.missing.empty())
    all = std::move(known.answers);
  else
    all = wait(get_missing(*core_, cache_, keys, std::move(known), options), options);
  note_hits(saved_, all);
  return all ? std::move(*all) : lookup_list(keys.size(), fail(all.error()));
}

future<lookup_list> cache::get_many_async(std::span<const key> keys,
                                          const call_options& options) const {
  auto known = find_many(core_, cache_, keys, options);
  if (known.missing.empty()) {
    note_hits(saved_, known.answers);
    return expected<lookup_list>(std::move(known.answers));
  }
  auto all = get_missing(*core_, cache_, keys, std::move(known), options);
  if (const auto& state = all.state()) expire(*core_, state, options);
  return noting_hits(saved_, std::move(all));
}

// --- insert, put, erase ------------------------------------------------------------------------

expected<insert_outcome> cache::insert(const key& k, const artifact& value,
                                       const call_options& options) const {
  auto key = owned_key(cache_, k, value);
  if (!key) return fail(key.error());
  return call<insert_outcome>(*core_, options, verb::insert_v, std::move(*key),
                              lasting(value, options));
}

future<insert_outcome> cache::insert_async(const key& k, const artifact& value,
                                           const call_options& options) const {
  auto key = owned_key(cache_, k, value);
  if (!key) return expected<insert_outcome>(fail(key.error()));
  return ask_async<insert_outcome>(*core_, options, verb::insert_v, std::move(*key),
                                   lasting(value, options));
}

expected<void> cache::put(const key& k, const artifact& value, const call_options& options) const {
  auto key = owned_key(cache_, k, value);
  if (!key) return fail(key.error());
  const auto stored =
      call<done>(*core_, options, verb::put_v, std::move(*key), lasting(value, options));
  if (!stored) return fail(stored.error());
  return {};
}

future<done> cache::put_async(const key& k, const artifact& value,
                              const call_options& options) const {
  auto key = owned_key(cache_, k, value);
  if (!key) return expected<done>(fail(key.error()));
  return ask_async<done>(*core_, options, verb::put_v, std::move(*key), lasting(value, options));
}

expected<bool> cache::erase(const key& k, const call_options& options) const {
  auto key = owned_key(cache_, k);
  if (!key) return fail(key.error());
  return call<bool>(*core_, options, verb::erase_v, std::move(*key));
}

future<bool> cache::erase_async(const key& k, const call_options& options) const {
  auto key = owned_key(cache_, k);
  if (!key) return expected<bool>(fail(key.error()));
  return ask_async<bool>(*core_, options, verb::erase_v, std::move(*key));
}

// --- get or compile ----------------------------------------------------------------------------

expected<compile_outcome> cache::lookup_or_compile(const key& k, const compile_function& compile,
                                                   const call_options& options) const {
  if (!core_) return fail(no_cache());
  engine::call_trace trace(*core_, cache_, k.encoded());
  if (auto found = find_outcome(*core_, saved_, {cache_, k.encoded()}, options)) {
    note_found(trace, *found);
    return std::move(*found);
  }
  const auto end = end_of(options);
  const cache_key key(cache_, k.encoded());
  auto reply = wait_for_lease(*core_, key, options);
  if (!reply) return fail(reply.error());
  trace.end_step(engine::step_of(*reply), engine::tier_of(*reply));
  if (reply->found.hit()) {
    if (!reply->waited) note_hits(saved_, reply->found);
    return found_outcome(std::move(*reply));
  }
  const compile_stop stop(*core_, options.stop(), end); // may throw, so the lease is taken after it
  auto made = make_under_lease(*core_, key, reply->lease.take(), compile, stop.token(),
                               options.ttl(), trace);
  if (!made) return fail(made.error());
  return compile_outcome{std::move(*made), tier::none, true, reply->waited};
}

future<compile_outcome> cache::lookup_or_compile_async(const key& k, compile_function compile,
                                                       const call_options& options) const {
  if (!core_) return expected<compile_outcome>(fail(no_cache()));
  const wanted_key wanted(cache_, k.encoded());
  engine::call_trace trace(*core_, cache_, k.encoded());
  if (auto found = find_outcome(*core_, saved_, wanted, options)) {
    note_found(trace, *found);
    return std::move(*found);
  }
  return compile_async(core_, wanted.owned(), std::move(compile), options, saved_);
}

expected<artifact> cache::get_or_compile(const key& k, const compile_function& compile,
                                         const call_options& options) const {
  auto outcome = lookup_or_compile(k, compile, options);
  if (!outcome) return fail(outcome.error());
  return std::move(outcome->value);
}

future<artifact> cache::get_or_compile_async(const key& k, compile_function compile,
                                             const call_options& options) const {
  return mapped<artifact>(lookup_or_compile_async(k, std::move(compile), options),
                          [](expected<compile_outcome> outcome) -> expected<artifact> {
                            if (!outcome) return fail(outcome.error());
                            return std::move(outcome->value);
                          });
}

cache_counts cache::counts() const noexcept {
  return cache_ ? storage::counts_of(*cache_) : cache_counts{};
}

std::chrono::nanoseconds cache::time_saved() const noexcept {
  return saved_ ? saved_->total() : std::chrono::nanoseconds{0};
}

} // namespace hearth
