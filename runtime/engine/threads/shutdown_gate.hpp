// Keeps what a shutdown takes away until the calls that use it have left. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace hearth::engine {

class shutdown_gate {
public:
  /// A call that is inside, until this goes. Movable.
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

  /// Nothing once the gate is closed.
  std::optional<pass> enter() noexcept {
    if ((inside_.fetch_add(1) & closed) == 0) return pass(*this);
    leave();
    return std::nullopt;
  }

  /// Lets nobody in from now on. Idempotent.
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

  std::atomic<std::uint64_t> inside_{0}; // how many calls are inside; the bit `closed`
};

} // namespace hearth::engine
