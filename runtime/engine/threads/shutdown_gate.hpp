// Keeps shared objects alive during a shutdown until the calls that use them have left. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace hearth::engine {

class shutdown_gate {
public:
  /// A call inside the gate, until this is destroyed. Movable.
  class pass {
  public:
    pass(pass&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)) {}
    pass& operator=(pass&&) = delete;
    ~pass() {
      if (gate_) gate_->leave();
    }

  private:
    friend class shutdown_gate;
    explicit pass(shutdown_gate& gate) noexcept
        : gate_(&gate) {}
    shutdown_gate* gate_; // null: moved from
  };

  shutdown_gate() = default;
  shutdown_gate(const shutdown_gate&) = delete;
  shutdown_gate& operator=(const shutdown_gate&) = delete;

  /// Enters the gate; empty once it is closed.
  std::optional<pass> enter() noexcept {
    if ((inside_.fetch_add(1) & closed) == 0) return pass(*this);
    leave();
    return std::nullopt;
  }

  /// Refuses every later `enter`. Idempotent.
  void close() noexcept { inside_.fetch_or(closed); }

  /// Waits until the last call has left. After `close`; not by a thread that is inside.
  void wait_until_empty() const noexcept {
    for (auto now = inside_.load(); now != closed; now = inside_.load())
      inside_.wait(now);
  }

private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63;

  void leave() noexcept {
    if (inside_.fetch_sub(1) == closed + 1) inside_.notify_all();
  }

  std::atomic<std::uint64_t> inside_{0}; // the number of calls inside, and the bit `closed`
};

} // namespace hearth::engine
