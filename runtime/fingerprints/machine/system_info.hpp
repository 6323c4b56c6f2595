// The machine as keys know it: what programs that are tuned for it depend on. Any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/key_field.hpp"

#include <filesystem>

namespace hearth::fingerprints {

/// A map of: `platform` ("Linux"), `machine` ("x86_64"), `os` ("debian 12"), `cpu` (a set of
/// models), `isa` (a set of features), `compilers` (those found in PATH, by name, with their
/// content), and where their driver is there `gpus` (a list of models) and `gpu_driver`.
/// What cannot be read is left out. `root` is the file system's, another one in tests.
key_field system_details(const std::filesystem::path& root = "/");

/// `system_details()` of this machine, looked at once a process.
const key_field& system_info();

/// SHA-256 of the encoded `system_info()`, made once: as a part of keys.
const digest& system_key();

} // namespace hearth::fingerprints
