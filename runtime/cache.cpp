#include "runtime/cache.hpp"

#include "runtime/core.hpp"
#include "runtime/handle/compile_lease.hpp"
#include "runtime/handle/get_many.hpp"
#include "runtime/handle/requests.hpp"
#include "runtime/handle/tiers.hpp"

#include <utility>

namespace hearth {
namespace {

expected<void> check_value(const artifact& value) {
  if (!value) return fail(errc::invalid_value, "an empty artifact: make one first");
  if (value.metadata_bytes().size() > max_metadata_bytes)
    return fail(errc::too_large, "metadata above 16 MiB");
  return {};
}

expected<cache_key> owned_key(const named_cache_ptr& in, const key& k) {
  if (auto good = check_key(k.encoded()); !good) return fail(good.error());
  return cache_key(in, k.encoded());
}

expected<cache_key> owned_key(const named_cache_ptr& in, const key& k, const artifact& value) {
  if (auto good = check_value(value); !good) return fail(good.error());
  return owned_key(in, k);
}

// What the memory tier does not have.
expected<lookup> get_below(runtime_core& core, const wanted_key& wanted) {
  if (auto good = check_key(wanted.bytes); !good) return fail(good.error());
  if (auto found = find_on_disk(core, wanted)) return std::move(*found);
  return lookup{}; // no remote tier is wired: nobody is left to ask
}

} // namespace

// --- get ---------------------------------------------------------------------------------------

expected<lookup> cache::get(const key& k) const {
  const wanted_key wanted(cache_, k.encoded());
  if (auto value = find_in_memory(*core_, wanted)) [[likely]]
    return lookup{tier::memory, std::move(value)};
  return get_below(*core_, wanted);
}

expected<lookup> cache::get(const key& k, const call_options& options) const {
  if (options.cancel.stop_requested()) return fail(called_off());
  return get(k);
}

future<lookup> cache::get_async(const key& k, const call_options& options) const {
  if (options.cancel.stop_requested()) [[unlikely]]
    return expected<lookup>(fail(called_off()));
  return get(k);
}

lookup_list cache::get_many(std::span<const key> keys, const call_options& options) const {
  if (options.cancel.stop_requested()) return lookup_list(keys.size(), fail(called_off()));
  return get_locally(*core_, cache_, keys);
}

future<lookup_list> cache::get_many_async(std::span<const key> keys,
                                          const call_options& options) const {
  return expected<lookup_list>(get_many(keys, options));
}

// --- insert, put, erase ------------------------------------------------------------------------

expected<insert_outcome> cache::insert(const key& k, const artifact& value,
                                       const call_options& options) const {
  const auto key = owned_key(cache_, k, value);
  if (!key) return fail(key.error());
  return wait(ask<insert_outcome>(*core_, options, *key, verb::insert_v, *key, value), options);
}

future<insert_outcome> cache::insert_async(const key& k, const artifact& value,
                                           const call_options& options) const {
  const auto key = owned_key(cache_, k, value);
  if (!key) return expected<insert_outcome>(fail(key.error()));
  return ask_async<insert_outcome>(*core_, options, *key, verb::insert_v, *key, value);
}

expected<void> cache::put(const key& k, const artifact& value, const call_options& options) const {
  const auto key = owned_key(cache_, k, value);
  if (!key) return fail(key.error());
  const auto stored = wait(ask<done>(*core_, options, *key, verb::put_v, *key, value), options);
  if (!stored) return fail(stored.error());
  return {};
}

future<done> cache::put_async(const key& k, const artifact& value,
                              const call_options& options) const {
  const auto key = owned_key(cache_, k, value);
  if (!key) return expected<done>(fail(key.error()));
  return ask_async<done>(*core_, options, *key, verb::put_v, *key, value);
}

expected<bool> cache::erase(const key& k, const call_options& options) const {
  const auto key = owned_key(cache_, k);
  if (!key) return fail(key.error());
  return wait(ask<bool>(*core_, options, *key, verb::erase_v, *key), options);
}

future<bool> cache::erase_async(const key& k, const call_options& options) const {
  const auto key = owned_key(cache_, k);
  if (!key) return expected<bool>(fail(key.error()));
  return ask_async<bool>(*core_, options, *key, verb::erase_v, *key);
}

// --- get or compile ----------------------------------------------------------------------------

expected<artifact> cache::get_or_compile(const key& k, const compile_function& compile,
                                         const call_options& options) const {
  const wanted_key wanted(cache_, k.encoded());
  if (auto good = check_key(wanted.bytes); !good) return fail(good.error());
  if (auto found = find_locally(*core_, wanted); found && *found) return std::move((*found)->value);
  const auto key = wanted.owned();
  auto reply = wait_for_lease(*core_, key, options);
  if (!reply) return fail(reply.error());
  if (reply->found.hit()) return std::move(reply->found.value);
  return make_under_lease(*core_, key, reply->lease, compile, options.cancel);
}

future<artifact> cache::get_or_compile_async(const key& k, compile_function compile,
                                             const call_options& options) const {
  const wanted_key wanted(cache_, k.encoded());
  if (auto good = check_key(wanted.bytes); !good) return expected<artifact>(fail(good.error()));
  if (auto found = find_locally(*core_, wanted); found && *found)
    return expected<artifact>(std::move((*found)->value));
  return compile_async(core_, wanted.owned(), std::move(compile), options);
}

} // namespace hearth
