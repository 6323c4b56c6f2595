// An overlay over a folder, in a mount namespace of the calling process, which has one thread.
#pragma once

#include "messages/process.hpp"

namespace hearth::worker {

/// Covers the folder for the calling process and its descendants. As another user than root it
/// also enters a user namespace, in which this user alone is known. Returns 0 or an errno; then
/// the process must end, since part of it may be done. EXDEV: something is mounted below the
/// folder, which an overlay would hide.
int cover_folder(const folder_cover& cover);

} // namespace hearth::worker
