// The state of signals that a program starts with. For the one thread of a worker.
#pragma once

namespace hearth::worker {

/// Every signal does what it does by default, and none is blocked: what the host ignored, blocked
/// or caught, and what a sanitizer catches, is of no consequence to what runs here.
void restore_signals();

} // namespace hearth::worker
