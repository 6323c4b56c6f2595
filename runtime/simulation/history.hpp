// The writes of one host's clients to a key, and the check of what a read finds. One thread.
//
// The rule is that of a regular register: a read finds a write that it overlaps with, or the last
// one that ended before it began. A write that failed, or was never answered, may take effect at
// any later time, or never.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::simulation {

class history {
public:
  /// A moment: the number of messages delivered so far.
  using moment = std::uint64_t;
  static constexpr moment never = ~moment{0};

  /// Begins a write of these bytes, or an erase (`is_erase`); returns its number.
  std::size_t begin(moment now, std::string bytes, bool is_erase);
  /// The write took effect, and that was acknowledged.
  void succeed(std::size_t number, moment now) { writes_[number].end = now; }
  /// The write certainly had no effect.
  void withdraw(std::size_t number) { writes_[number].is_void = true; }
  /// The same for the fulfilment of a lease that came too late. Waiters of the lease may have
  /// received its bytes if the first writer's entry was erased before they could get it.
  void lend(std::size_t number, moment now) {
    withdraw(number);
    writes_[number].lent_until = now;
  }

  /// Describes the mistake of a read, begun and ended at these moments, that found `bytes`; empty:
  /// none. `waited`: the reader waited for the lease's holder.
  std::string judge_hit(std::string_view bytes, moment begun, moment ended,
                        bool waited = false) const;
  /// The same for a read that missed.
  std::string judge_miss(moment begun, moment ended) const;

  /// Whether a write of these bytes has begun.
  bool has(std::string_view bytes) const;
  /// Whether a write of a value was acknowledged before `moment`.
  bool is_decided(moment before) const;

  /// Writes that ended before `durable` are durable; the others are uncertain from now on.
  void lose_after(moment durable);
  /// Every write is uncertain from now on: the entry may have been evicted.
  void forget_certainty() { lose_after(0); }

private:
  struct write {
    std::string bytes;
    moment start;
    moment end = never;
    bool is_erase;
    bool is_void = false;
    moment lent_until = 0;
  };
  bool is_overwritten(const write& w, moment before) const;

  std::vector<write> writes_;
};

} // namespace hearth::simulation
