#include "runtime/caches/autotune/known_tunings.hpp"

#include "messages/autotune/names.hpp"
#include "messages/value.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/replace_entry.hpp"
#include "runtime/handle/runtime.hpp"

#include <utility>

namespace hearth {

expected<known_tunings> known_tunings::open(runtime& in) {
  cache_options of_this_host;
  of_this_host.remote = false;
  auto over = in.open(local_tunings, of_this_host);
  if (!over) return fail(over.error());
  return known_tunings(internals::core(in).shared_from_this(), std::move(*over));
}

expected<std::vector<std::string>> known_tunings::names() const {
  std::vector<std::string> names;
  const auto& store = core_->store();
  if (!store) return names;
  const auto& id = internals::name(cache_)->id;
  const auto listed = store->list([&](const storage::entry_info& entry) {
    if (entry.cache != id.name() || entry.version != id.version()) return true;
    const auto name = decode_value(entry.key);
    if (const auto* text = name ? name->as<std::string>() : nullptr) names.push_back(*text);
    return true;
  });
  if (!listed) return fail(listed.error());
  return names;
}

expected<named_tunings> known_tunings::all(std::uint64_t& unreadable) const {
  const auto known = names();
  if (!known) return fail(known.error());
  named_tunings tunings;
  for (const auto& name : *known) {
    const auto found = cache_.get(key(name));
    if (found && !found->hit()) continue; // removed since it was listed
    auto record = found ? decode_record(found->value.payload()) : fail(found.error());
    if (record)
      tunings.emplace(name, std::move(*record));
    else
      ++unreadable;
  }
  return tunings;
}

expected<import_counts> known_tunings::take_in(const named_tunings& tunings) const {
  import_counts counts;
  for (const auto& [name, record] : tunings) {
    const auto outcome = replace_entry(cache_, key(name), artifact::make(encode_record(record)));
    if (!outcome) return fail(outcome.error().within(name));
    counts.added += *outcome == replace_outcome::inserted;
    counts.same += *outcome == replace_outcome::same;
    counts.replaced += *outcome == replace_outcome::replaced;
  }
  return counts;
}

} // namespace hearth
