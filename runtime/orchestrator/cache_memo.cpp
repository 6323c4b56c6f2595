#include "runtime/orchestrator/cache_memo.hpp"

namespace hearth::orchestrator {

std::optional<std::string> cache_memo::load(std::string_view key) {
  const auto found = facts_.get(key);
  if (!found || !found->hit()) return std::nullopt;
  return std::string(found->value.payload());
}

// Facts may be lost: what cannot be kept is learnt again. An insert first, since a put makes other
// processes drop what they hold in memory.
void cache_memo::save(std::string_view key, std::string_view bytes) {
  const auto fact = artifact::make(bytes);
  const auto outcome = facts_.insert(key, fact);
  if (outcome && *outcome == insert_outcome::exists) static_cast<void>(facts_.put(key, fact));
}

} // namespace hearth::orchestrator
