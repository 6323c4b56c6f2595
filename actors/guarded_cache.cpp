#include "actors/guarded_cache.hpp"

#include "actors/timeouts.hpp"
#include "actors/update_entry.hpp"
#include "messages/digest.hpp"
#include "messages/key.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors {
namespace {

using variant_search_ptr = std::shared_ptr<guarded_cache_state::search>;
using addition_ptr = std::shared_ptr<guarded_cache_state::addition>;
using variant_list = guarded_cache_state::variant_list;

constexpr std::size_t max_parsed_guards = 4096;
constexpr std::size_t max_variants = 1024;
// --- what is stored ----------------------------------------------------------------------------

cache_key list_key(const cache_key& base) { return derived_key(base, key("variants")); }

cache_key variant_key(const cache_key& base, const std::string& digest) {
  return derived_key(base, key::bytes(digest));
}

std::string digest_of(const std::string& guard, const artifact& value) {
  const auto size = static_cast<std::uint64_t>(guard.size());
  const auto sum = sha256_stream{}
                       .update({reinterpret_cast<const char*>(&size), sizeof size})
                       .update(guard)
                       .update(value.payload())
                       .finish();
  return std::string(sum.view());
}

artifact encode_list(const variant_list& variants) {
  value::array lines;
  for (const auto& line : variants)
    lines.push_back(value::array{binary{line.digest}, line.guard});
  return artifact::make(encode(value{std::move(lines)}));
}

// Decodes the list, in the order in which variants are tried. Empty if the bytes are not a list.
variant_list decode_list(const artifact& stored) {
  variant_list variants;
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
  std::sort(variants.begin(), variants.end(),
            [](const auto& a, const auto& b) { return a.digest < b.digest; });
  return variants;
}

// --- lookup ------------------------------------------------------------------------------------

const expected<guard_expression>& parsed(guarded_cache_state& state, const std::string& text) {
  if (state.parsed.size() >= max_parsed_guards) state.parsed.clear();
  const auto [at, is_new] = state.parsed.try_emplace(text, fail(errc::internal, ""));
  if (is_new) at->second = guard_expression::parse(text);
  return at->second;
}

// Whether the variant's guard holds. A guard that cannot be evaluated does not hold; a counter
// counts it.
bool holds(guarded_cache_state& state, guarded_cache_state::search& search,
           const std::string& guard) {
  if (guard.empty()) return true;
  search.reply.sample = guard;
  const auto& expression = parsed(state, guard);
  const auto result = expression ? expression->evaluate(search.values) : fail(expression.error());
  if (!result) ++search.reply.unevaluated;
  return result.value_or(false);
}

void deliver_miss(const variant_search_ptr& search) {
  const bool any = search->reply.broken < search->variants.size();
  search->reply.status = any ? guarded_status::guard_miss : guarded_status::full_miss;
  search->promise.deliver(std::move(search->reply));
}

void try_next(guarded_cache_pointer self, const variant_search_ptr& search);

void take_variant(const variant_search_ptr& search, const std::string& guard, const lookup& found) {
  search->reply.status = guarded_status::hit;
  search->reply.found = found;
  search->reply.guard = guard;
  search->promise.deliver(std::move(search->reply));
}

// Continues along the list to the first variant whose guard holds and whose entry still exists.
void try_next(guarded_cache_pointer self, const variant_search_ptr& search) {
  auto& variants = search->variants;
  while (search->next < variants.size() &&
         !holds(self->state, *search, variants[search->next].guard))
    ++search->next;
  if (search->next == variants.size()) return deliver_miss(search);
  const auto& chosen = variants[search->next++];
  const auto key = variant_key(search->key, chosen.digest);
  self->request(self->state.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [self, search, guard = chosen.guard](const lookup& found) {
            if (found.hit()) return take_variant(search, guard, found);
            ++search->reply.broken;
            try_next(self, search);
          },
          [self, search](const caf::error&) {
            ++search->reply.broken;
            try_next(self, search);
          });
}

void find(guarded_cache_pointer self, const variant_search_ptr& search) {
  const auto key = list_key(search->key);
  self->request(self->state.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then(
          [self, search](const lookup& found) {
            if (found.hit()) search->variants = decode_list(found.value);
            try_next(self, search);
          },
          [search](const caf::error&) { deliver_miss(search); });
}

// --- insert ------------------------------------------------------------------------------------

// The list with the variant added; empty if the list has the variant already. A list that cannot be
// read is replaced by a new one.
expected<std::optional<artifact>> extended_list(const expected<lookup>& stored,
                                                const guarded_cache_state::addition& addition) {
  if (!stored) return fail(stored.error());
  auto variants = decode_list(stored->value);
  const auto digest = digest_of(addition.guard, addition.value);
  const bool known = std::any_of(variants.begin(), variants.end(),
                                 [&](const auto& line) { return line.digest == digest; });
  if (known) return std::optional<artifact>();
  if (variants.size() >= max_variants)
    return fail(errc::too_large, "this key has 1,024 guarded variants already");
  variants.push_back({digest, addition.guard});
  return std::optional(encode_list(variants));
}

void grow_list(guarded_cache_pointer self, const addition_ptr& addition) {
  const auto list = list_key(addition->key);
  update_under_lock(
      self, self->state.shards.owner_of(list), list, without_lock::fails,
      [addition](const expected<lookup>& stored) { return extended_list(stored, *addition); },
      [addition](const expected<update_outcome>& outcome) {
        if (!outcome) return addition->promise.deliver(to_caf(outcome.error()));
        addition->promise.deliver(*outcome == update_outcome::stored ? insert_outcome::inserted
                                                                     : insert_outcome::exists);
      });
}

void add(guarded_cache_pointer self, const addition_ptr& addition) {
  const auto key = variant_key(addition->key, digest_of(addition->guard, addition->value));
  self->request(self->state.shards.owner_of(key), answer_timeout, verb::insert_v, key,
                addition->value)
      .then([=](insert_outcome) { grow_list(self, addition); },
            [=](const caf::error& why) { addition->promise.deliver(why); });
}

} // namespace

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
