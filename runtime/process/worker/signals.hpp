// The state of signals that a program starts with. For the only thread of a worker.
#pragma once

namespace hearth::worker {

/// Gives every signal its default action, and blocks none: the signals that the host ignored,
/// blocked or caught, or that a sanitizer catches, do not affect the program.
void restore_signals();

} // namespace hearth::worker
