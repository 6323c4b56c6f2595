// What clients of one host added to a guarded key, and what a lookup may find of it. Variants are
// added and never replaced. One thread.
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

  /// Begins to add a variant; its number.
  std::size_t begin(moment now, std::string guard, std::string bytes);
  /// It is there, and that was acknowledged.
  void succeed(std::size_t number, moment now) { variants_[number].end = now; }

  /// What is wrong with a lookup that ended at this moment with `bytes` under `guard`; empty:
  /// nothing.
  std::string judge_hit(std::string_view guard, std::string_view bytes, moment ended) const;
  /// The same of one, begun at this moment, that found nothing. `holds(guard)`: for its sizes.
  template <class Holds>
  std::string judge_miss(moment begun, Holds&& holds) const;

  /// What ended before `moment` is durable; the rest is uncertain from now on.
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
