// The variants that clients of one host added to a guarded key, and the check of what a lookup
// finds. Variants are added and never replaced. One thread.
#pragma once

#include "runtime/simulation/history.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::simulation {

class guarded_history {
public:
  using moment = history::moment;

  /// Begins to add a variant; returns its number.
  std::size_t begin(moment now, std::string guard, std::string bytes);
  /// The variant was added, and that was acknowledged.
  void succeed(std::size_t number, moment now) { variants_[number].end = now; }

  /// Describes the mistake of a lookup that ended at this moment with `bytes` under `guard`; empty:
  /// none.
  std::string judge_hit(std::string_view guard, std::string_view bytes, moment ended) const;
  /// The same for a lookup, begun at this moment, that missed. `holds(guard)`: whether the guard
  /// holds for the lookup's sizes.
  template <class Holds>
  std::string judge_miss(moment begun, Holds&& holds) const;

  /// Variants that ended before `durable` are durable; the others are uncertain from now on.
  void lose_after(moment durable);

private:
  struct variant {
    std::string guard;
    std::string bytes;
    moment start;
    moment end = history::never;
  };
  std::vector<variant> variants_;
};

template <class Holds>
std::string guarded_history::judge_miss(moment begun, Holds&& holds) const {
  for (const auto& one : variants_)
    if (one.end < begun && holds(one.guard))
      return "a miss, although the variant of \"" + one.guard + "\" was acknowledged";
  return {};
}

} // namespace hearth::simulation
