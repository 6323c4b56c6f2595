// A circuit breaker: after failures the remote tier is not asked, until a background probe
// succeeds. It has no timer of its own: its owner sets the timers.
//
// Plain state of one owner; not for several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace hearth::storage {

struct breaker_options {
  unsigned max_failures = 3; ///< in a row, of those that do not open it at once
  std::chrono::milliseconds first_backoff{250};
  std::chrono::milliseconds max_backoff{30'000};
  std::uint64_t seed = 0; ///< of the jitter
};

class breaker {
public:
  enum class phase : std::uint8_t {
    closed,    ///< everything passes
    open,      ///< nothing passes
    half_open, ///< a probe is under way, nothing else passes
  };

  explicit breaker(const breaker_options& options) noexcept
      : options_(options)
      , random_(options.seed) {}

  phase now() const noexcept { return phase_; }
  bool is_closed() const noexcept { return phase_ == phase::closed; }
  std::uint64_t openings() const noexcept { return openings_; }

  /// A command that was let through succeeded.
  void succeed() noexcept;
  /// A command that was let through failed. Returns whether this opened the breaker. In any phase
  /// but closed it changes nothing: only the probe decides.
  bool fail(bool opens_at_once) noexcept;

  /// How long to wait before the next probe: longer after each, and never twice the same, so that a
  /// fleet does not come back at once.
  std::chrono::milliseconds backoff() noexcept;
  /// open: the probe goes out.
  void begin_probe() noexcept;
  /// half_open: closes it, or opens it again.
  void end_probe(bool well) noexcept;

private:
  breaker_options options_;
  std::uint64_t random_;
  phase phase_ = phase::closed;
  unsigned failures_ = 0; // in a row
  unsigned probes_ = 0;   // that failed in a row
  std::uint64_t openings_ = 0;
};

/// "closed", "open", "half_open".
std::string_view to_string(breaker::phase phase) noexcept;

} // namespace hearth::storage
