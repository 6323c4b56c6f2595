// A mapped file that shrinks, or that the disk cannot read, turns an access into SIGBUS. With the
// guard installed such a page becomes a page of zeros instead: no checksum fits zeros, so that the
// reader reads the file instead, and reports a miss.
//
// One handler a process, installed on request and never removed; signals that are not about a
// guarded range go to the handler that was installed before. Any thread.
#pragma once

#include <cstddef>

namespace hearth::storage::disk {

/// Installs the handler, once.
void install_sigbus_guard() noexcept;

/// Guards a mapped range. Beyond a few thousand ranges, a range stays unguarded.
void guard_range(const void* address, std::size_t bytes) noexcept;
void unguard_range(const void* address) noexcept;
/// Whether a page of the range that starts here was replaced.
bool has_faulted(const void* address) noexcept;

} // namespace hearth::storage::disk
