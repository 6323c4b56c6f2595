// The end of a program that gets no memory or no thread at a place that cannot report it: one line
// on stderr and a status, never an abort. Programs only, not libraries: a host decides by itself.
#pragma once

namespace hearth::cli {

/// From now on a failed `new` and `std::terminate` end the process at once, with `failure_status`.
/// Called by the main thread before any other thread.
void install_last_resort() noexcept;

/// The status of such an end: `trouble`, unless another one was set. Any thread.
int failure_status() noexcept;
void set_failure_status(int status) noexcept;

} // namespace hearth::cli
