#include "runtime/handle/actor_form.hpp"

#include "runtime/engine/calls/get_many.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/calls/tiers.hpp"
#include "runtime/engine/core.hpp"

namespace hearth {

expected<key_address> address(const cache& in, const key& k) {
  auto& core = *in.core();
  if (auto no = core.refusal()) return fail(*no);
  if (auto good = check_key(k.encoded()); !good) return fail(good.error());
  cache_key named(in.named(), k.encoded());
  return key_address{core.shards().owner_of(named), std::move(named)};
}

future<lookup_list> get_by_message(const cache& in, std::span<const key> keys,
                                   const call_options& options) {
  auto answer = get_by_message(*in.core(), in.named(), keys, options);
  if (const auto& state = answer.state()) expire(*in.core(), state, options);
  return answer;
}

} // namespace hearth
