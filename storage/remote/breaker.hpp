// A circuit breaker: after failures it stops requests to the remote tier, until a background probe
// succeeds. It has no timer of its own: its owner sets the timers.
//
// Plain state of one owner; not for several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace hearth::storage {

struct breaker_options {
  unsigned max_failures = 3; ///< consecutive failures that open it, unless one opens it at once
  std::chrono::milliseconds first_backoff{250};
  std::chrono::milliseconds max_backoff{30'000};
  std::uint64_t seed = 0; ///< seed of the jitter
};

class breaker {
public:
  enum class phase : std::uint8_t {
    closed,    ///< all commands pass
    open,      ///< no command passes
    half_open, ///< a probe is in flight, no other command passes
  };

  explicit breaker(const breaker_options& options) noexcept
      : options_(options)
      , random_(options.seed) {}

  phase now() const noexcept { return phase_; }
  bool is_closed() const noexcept { return phase_ == phase::closed; }
  std::uint64_t openings() const noexcept { return openings_; }

  /// Records that a command that passed succeeded.
  void succeed() noexcept;
  /// Records that a command that passed failed. Returns whether this opened the breaker. Changes
  /// nothing unless the breaker is closed: only the probe closes it again.
  bool fail(bool opens_at_once) noexcept;

  /// The time to wait before the next probe: longer after each, with jitter, so that the processes
  /// of a fleet do not reconnect at the same time.
  std::chrono::milliseconds backoff() noexcept;
  /// open: the owner sends the probe.
  void begin_probe() noexcept;
  /// half_open: closes the breaker, or opens it again.
  void end_probe(bool well) noexcept;

private:
  breaker_options options_;
  std::uint64_t random_;
  phase phase_ = phase::closed;
  unsigned failures_ = 0; // consecutive failures
  unsigned probes_ = 0;   // consecutive failed probes
  std::uint64_t openings_ = 0;
};

/// "closed", "open", "half_open".
std::string_view to_string(breaker::phase phase) noexcept;

} // namespace hearth::storage
