#include "runtime/handle/actor_form.hpp"

#include "runtime/engine/calls/get_many.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/calls/tiers.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"

namespace hearth {

expected<key_address> address(const cache& in, const key& k) {
  auto& core = *internals::core(in);
  if (auto no = core.refusal()) return fail(*no);
  if (auto good = engine::check_key(k.encoded()); !good) return fail(good.error());
  cache_key named(internals::name(in), k.encoded());
  return key_address{core.shards().owner_of(named), std::move(named)};
}

future<lookup_list> get_by_message(const cache& in, std::span<const key> keys,
                                   const call_options& options) {
  auto answer = engine::get_by_message(*internals::core(in), internals::name(in), keys, options);
  if (const auto& state = answer.state()) engine::expire(*internals::core(in), state, options);
  return answer;
}

} // namespace hearth
