// Identifies the mount that a file was seen on, for `file_stamp`. Any thread.
//
// An image may be replaced by its next version with the same device, inodes, sizes and times: only
// its mount is another one. A mount's unique number is not given twice while the system runs, and
// the boot's random number tells boots and machines apart.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace hearth::fingerprints {

/// The bit to ask `statx` for, besides what else is asked for.
unsigned mount_mask();

/// The mount of what `statx` found, asked with `mount_mask`; never 0. Where the system does not say
/// enough (Linux before 6.8, on a read-only file system), another number in each process: nothing
/// that was remembered holds.
std::uint64_t mount_of(const struct statx& found);

/// The mounts that there are now, each as `mount_of` says; nothing where the system does not list
/// them by unique number (Linux before 6.8, or it is forbidden).
std::optional<std::set<std::uint64_t>> mounts_now();

} // namespace hearth::fingerprints
