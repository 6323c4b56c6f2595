#include "runtime/simulation/history.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <utility>

namespace hearth::simulation {

std::size_t history::begin(moment now, std::string bytes, bool is_erase) {
  writes_.push_back({std::move(bytes), now, never, is_erase});
  return writes_.size() - 1;
}

// Whether another write began after `w` had ended, and was acknowledged before `before`.
bool history::is_overwritten(const write& w, moment before) const {
  return std::any_of(writes_.begin(), writes_.end(), [&](const write& other) {
    return !other.is_void && other.end != never && other.start > w.end && other.end < before;
  });
}

std::string history::judge_hit(std::string_view bytes, moment begun, moment ended,
                               bool waited) const {
  bool is_known = false;
  for (const auto& one : writes_) {
    if (one.is_erase || one.bytes != bytes) continue;
    is_known = true;
    if (waited && one.is_void && one.start <= ended && one.lent_until >= begun) return {};
    if (!one.is_void && one.start <= ended && (one.end == never || !is_overwritten(one, begun)))
      return {};
  }
  return std::string(is_known ? "a stale value " : "bytes that nobody wrote ") + quoted_text(bytes);
}

std::string history::judge_miss(moment begun, moment ended) const {
  for (const auto& one : writes_) {
    if (one.is_void || one.is_erase || one.end == never || one.end >= begun) continue;
    const bool erased = std::any_of(writes_.begin(), writes_.end(), [&](const write& other) {
      return !other.is_void && other.is_erase && other.end >= one.start && other.start <= ended;
    });
    if (!erased) return "a miss, although " + quoted_text(one.bytes) + " was acknowledged";
  }
  return {};
}

bool history::has(std::string_view bytes) const {
  return std::any_of(writes_.begin(), writes_.end(),
                     [bytes](const write& one) { return !one.is_erase && one.bytes == bytes; });
}

bool history::is_decided(moment before) const {
  return std::any_of(writes_.begin(), writes_.end(), [before](const write& one) {
    return !one.is_void && !one.is_erase && one.end < before;
  });
}

void history::lose_after(moment durable) {
  for (auto& one : writes_)
    if (one.end >= durable) one.end = never;
}

} // namespace hearth::simulation
