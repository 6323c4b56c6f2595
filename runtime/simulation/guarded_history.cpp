#include "runtime/simulation/guarded_history.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <utility>

namespace hearth::simulation {

std::size_t guarded_history::begin(moment now, std::string guard, std::string bytes) {
  variants_.push_back({std::move(guard), std::move(bytes), now});
  return variants_.size() - 1;
}

std::string guarded_history::judge_hit(std::string_view guard, std::string_view bytes,
                                       moment ended) const {
  const bool is_known = std::any_of(variants_.begin(), variants_.end(), [&](const variant& one) {
    return one.guard == guard && one.bytes == bytes && one.start <= ended;
  });
  return is_known ? "" : "bytes that nobody added under that guard " + quoted_text(bytes);
}

void guarded_history::lose_after(moment durable) {
  for (auto& one : variants_)
    if (one.end >= durable) one.end = history::never;
}

} // namespace hearth::simulation
