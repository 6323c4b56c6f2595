#include "runtime/simulation/guarded_history.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <utility>

namespace hearth::simulation {

std::size_t guarded_history::begin(moment now, std::string process, std::string guard,
                                   std::string bytes) {
  variants_.push_back({std::move(process), std::move(guard), std::move(bytes), now});
  return variants_.size() - 1;
}

bool guarded_history::has(std::string_view guard, std::string_view bytes, moment ended) const {
  return std::any_of(variants_.begin(), variants_.end(), [&](const variant& one) {
    return one.guard == guard && one.bytes == bytes && one.start <= ended;
  });
}

std::string guarded_history::judge_hit(std::string_view guard, std::string_view bytes,
                                       moment ended) const {
  if (has(guard, bytes, ended)) return "";
  return "bytes that nobody added under that guard " + quoted_text(bytes);
}

void guarded_history::reach_fleet(std::string_view process) {
  for (auto& one : variants_)
    if (one.process == process && one.end != history::never) one.is_in_fleet = true;
}

void guarded_history::end_process(std::string_view process) {
  for (auto& one : variants_)
    if (one.process == process && !one.is_in_fleet) one.process.clear();
}

void guarded_history::lose_after(moment durable) {
  for (auto& one : variants_)
    if (one.end >= durable) one.end = history::never;
}

} // namespace hearth::simulation
