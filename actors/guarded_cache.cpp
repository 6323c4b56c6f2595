#include "actors/guarded_cache.hpp"

#include "actors/growing_set.hpp"
#include "actors/timeouts.hpp"
#include "messages/guarded_variant.hpp"
#include "messages/key.hpp"
#include "messages/set_kind.hpp"
#include "messages/value.hpp"

#include <unordered_set>
#include <utility>

namespace hearth::actors {
namespace {

using variant_search_ptr = std::shared_ptr<guarded_cache_state::search>;
using addition_ptr = std::shared_ptr<guarded_cache_state::addition>;

constexpr auto variant_limits = variant_sets.limits;

// --- what is stored ----------------------------------------------------------------------------

// The variants in a list of the earlier form: pairs of digest and guard.
std::vector<set_member> variants_in_list(const artifact& stored) {
  std::vector<set_member> variants;
  const auto decoded = decode_value(stored.payload());
  const auto* lines = decoded ? decoded->as<value::array>() : nullptr;
  if (!lines) return variants;
  for (const auto& line : *lines) {
    const auto* parts = line.as<value::array>();
    if (!parts || parts->size() != 2) return {};
    const auto* digest = (*parts)[0].as<binary>();
    const auto* guard = (*parts)[1].as<std::string>();
    if (!digest || !guard) return {};
    variants.push_back({digest->bytes, *guard});
  }
  return variants;
}

earlier_form earlier_list(const cache_key& base) {
  return {derived_key(base, key("variants")), variants_in_list};
}

// --- lookup ------------------------------------------------------------------------------------

// Whether the variant's guard holds. A guard that cannot be evaluated does not hold; a counter
// counts it.
bool holds(guarded_cache_state& state, guarded_cache_state::search& search,
           const std::string& guard) {
  if (guard.empty()) return true;
  search.reply.sample = guard;
  const auto& expression = state.guards.get(guard);
  const auto result = expression ? expression->evaluate(search.values) : fail(expression.error());
  if (!result) ++search.reply.unevaluated;
  return result.value_or(false);
}

// Variants whose entries are gone from every tier leave the set.
void drop_gone(guarded_cache_pointer self, const variant_search_ptr& search) {
  if (search->gone.empty()) return;
  set_change change;
  change.removed = std::move(search->gone);
  change.limits = variant_limits;
  change_set(self, self->state.shards, variants_key(search->key), std::move(change),
             [](const expected<set_reply>&) {});
}

// Ends a search without a hit.
void deliver_miss(guarded_cache_pointer self, const variant_search_ptr& search) {
  const bool any = search->reply.broken < search->variants.size();
  search->reply.status = any ? guarded_status::guard_miss : guarded_status::full_miss;
  search->promise.deliver(std::move(search->reply));
  drop_gone(self, search);
}

void try_next(guarded_cache_pointer self, const variant_search_ptr& search);

// Adds the variants that are not in the search yet, in the order of their digests.
void extend(guarded_cache_state::search& search, const member_set& found) {
  std::unordered_set<std::string> known;
  for (const auto& variant : search.variants)
    known.insert(variant.id);
  for (const auto& member : found.members())
    if (!known.contains(member.id)) search.variants.push_back(member);
}

// No variant that this host knows is a hit: the fleet is asked once.
void look_further(guarded_cache_pointer self, const variant_search_ptr& search) {
  if (std::exchange(search->has_asked_fleet, true)) return deliver_miss(self, search);
  refresh_set(self, self->state.shards, variants_key(search->key), variant_limits,
              earlier_list(search->key), [=](const known_set& found) {
                extend(*search, found.members);
                try_next(self, search);
              });
}

void take_variant(guarded_cache_pointer self, const variant_search_ptr& search,
                  const std::string& guard, const lookup& found) {
  search->reply.status = guarded_status::hit;
  search->reply.found = found;
  search->reply.guard = guard;
  search->promise.deliver(std::move(search->reply));
  drop_gone(self, search);
}

// The variant has no entry. It leaves the set only if every tier says so.
void skip_variant(guarded_cache_pointer self, const variant_search_ptr& search,
                  const set_member& variant, bool is_gone) {
  ++search->reply.broken;
  if (is_gone) search->gone.push_back(variant);
  try_next(self, search);
}

// Continues along the variants to the first whose guard holds and whose entry still exists.
void try_next(guarded_cache_pointer self, const variant_search_ptr& search) {
  auto& variants = search->variants;
  while (search->next < variants.size() &&
         !holds(self->state, *search, variants[search->next].content))
    ++search->next;
  if (search->next == variants.size()) return look_further(self, search);
  const auto& chosen = variants[search->next++];
  const auto key = variant_key(search->key, chosen.id);
  self->request(self->state.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [self, search, chosen](const lookup& found) {
            if (found.hit()) return take_variant(self, search, chosen.content, found);
            skip_variant(self, search, chosen, !found.is_unanswered);
          },
          [self, search, chosen](const caf::error&) { skip_variant(self, search, chosen, false); });
}

void find(guarded_cache_pointer self, const variant_search_ptr& search) {
  find_set(self, self->state.shards, variants_key(search->key), [=](const known_set& found) {
    search->variants = found.members.members();
    try_next(self, search);
  });
}

// --- insert ------------------------------------------------------------------------------------

// Adds the variant to the set. One whose entry was stored now is written even if the set has it: it
// may be on its way out of it.
void grow_set(guarded_cache_pointer self, const addition_ptr& addition, insert_outcome stored) {
  const set_member variant{variant_id(addition->guard, addition->value), addition->guard};
  set_change change;
  (stored == insert_outcome::inserted ? change.written : change.added).push_back(variant);
  change.limits = variant_limits;
  change_set(self, self->state.shards, variants_key(addition->key), std::move(change),
             [addition](const expected<set_reply>& reply) {
               if (!reply) return addition->promise.deliver(to_caf(reply.error()));
               addition->promise.deliver(reply->outcome.new_ids != 0 ? insert_outcome::inserted
                                                                     : insert_outcome::exists);
             });
}

void add(guarded_cache_pointer self, const addition_ptr& addition) {
  const auto key = variant_key(addition->key, variant_id(addition->guard, addition->value));
  self->request(self->state.shards.owner_of(key), answer_timeout, verb::insert_v, key,
                addition->value)
      .then([=](insert_outcome stored) { grow_set(self, addition, stored); },
            [=](const caf::error& why) { addition->promise.deliver(why); });
}

} // namespace

const expected<guard_expression>& parsed_guards::get(const std::string& text) {
  if (const auto known = known_.find(text); known != known_.end()) return known->second;
  if (known_.size() >= max_guards) known_.clear();
  ++parses_;
  return known_.emplace(text, guard_expression::parse(text)).first->second;
}

guarded_cache_actor::behavior_type guarded_cache(guarded_cache_pointer self, shard_router shards) {
  self->state.shards = std::move(shards);
  return {
      [self](verb::get, const cache_key& key, const hints& values) {
        auto search = std::make_shared<guarded_cache_state::search>();
        search->key = key;
        search->values = values;
        search->promise = self->make_response_promise<guarded_reply>();
        find(self, search);
        return search->promise.promise();
      },
      [self](verb::insert, const cache_key& key, const std::string& guard, const artifact& value) {
        auto addition = std::make_shared<guarded_cache_state::addition>();
        addition->key = key;
        addition->guard = guard;
        addition->value = value;
        addition->promise = self->make_response_promise<insert_outcome>();
        add(self, addition);
        return addition->promise.promise();
      },
  };
}

} // namespace hearth::actors
