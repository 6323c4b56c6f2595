// The variants that clients of one host added to a guarded key, and the checks of what a lookup
// finds: on that host, and on another one. Variants are added and never replaced. One thread.
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

  /// Begins to add a variant by a process; returns its number.
  std::size_t begin(moment now, std::string process, std::string guard, std::string bytes);
  /// The variant was added, and that was acknowledged.
  void succeed(std::size_t number, moment now) { variants_[number].end = now; }

  /// Whether this variant was added, by a lookup that ended at this moment at the latest.
  bool has(std::string_view guard, std::string_view bytes, moment ended) const;
  /// Describes the mistake of a lookup that ended at this moment with `bytes` under `guard`; empty:
  /// none.
  std::string judge_hit(std::string_view guard, std::string_view bytes, moment ended) const;
  /// The same for a lookup, begun at this moment, that missed. `holds(guard)`: whether the guard
  /// holds for the lookup's sizes.
  template <class Holds>
  std::string judge_miss(moment begun, Holds&& holds) const;

  /// The server has everything that this process has written: the fleet finds its variants.
  void reach_fleet(std::string_view process);
  /// The process ended: what it has not written yet may never reach the server.
  void end_process(std::string_view process);
  /// Describes the mistake of a lookup on any host that missed, although the fleet finds a variant
  /// whose guard holds.
  template <class Holds>
  std::string judge_fleet_miss(Holds&& holds) const;

  /// Variants that ended before `durable` are durable; the others are uncertain from now on.
  void lose_after(moment durable);

private:
  struct variant {
    std::string process;
    std::string guard;
    std::string bytes;
    moment start;
    moment end = history::never;
    bool is_in_fleet = false;
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

template <class Holds>
std::string guarded_history::judge_fleet_miss(Holds&& holds) const {
  for (const auto& one : variants_)
    if (one.is_in_fleet && holds(one.guard))
      return "a miss, although the server has the variant of \"" + one.guard + "\" of " +
             one.process;
  return {};
}

} // namespace hearth::simulation
