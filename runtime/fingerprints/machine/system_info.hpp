// The machine as a part of keys: the properties that programs tuned for it depend on. Any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/key_field.hpp"
#include "messages/visibility.hpp"

#include <filesystem>

namespace hearth {
namespace HEARTH_PUBLIC fingerprints {

/// A map of: `platform` ("Linux"), `machine` ("x86_64"), `os` ("debian 12"), `cpu` (a set of
/// models), `isa` (a set of features), `compilers` (those found in PATH, by name, with their
/// content), and, if their driver is present, `gpus` (a list of models), `compute_capability` (of
/// each; empty if it is unknown), `gpu_driver` and `gpu_software` (versions of `cuda`, `hip` and
/// `triton`, as far as they are found).
/// Unreadable properties are left out. `root` is the root of the file system; tests pass another
/// one.
key_field system_details(const std::filesystem::path& root = "/");

/// `system_details()` of this machine, read once per process.
const key_field& system_info();

/// SHA-256 of the encoded `system_info()`, computed once, as a part of keys.
const digest& system_key();

} // namespace fingerprints
} // namespace hearth
