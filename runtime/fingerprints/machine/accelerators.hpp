// The GPUs of a machine, their driver, and the software that makes programs for them. Read from
// files; any thread.
#pragma once

#include "messages/value.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hearth::fingerprints {

/// Empty without a driver: software for GPUs that are not there changes no program.
struct accelerators {
  std::string driver; ///< "nvidia NVRM version ...", "amdgpu 6.7.0"
  std::vector<std::string>
      models; ///< in the order of their places: "NVIDIA H100 80GB HBM3", "gfx 90402"
  /// What the models compute with: "9.0" for each NVIDIA model whose chip is known, by its PCI
  /// number; "90402" for each of AMD's. The same order; empty: unknown.
  std::vector<std::string> capabilities;
  std::map<std::string, std::string> software; ///< versions of `cuda`, `hip` and `triton`, if found

  friend bool operator==(const accelerators&, const accelerators&) = default;
};

/// Those below a root of the file system; tests pass another one.
accelerators find_accelerators(const std::filesystem::path& root = "/");

/// The compute capability of an NVIDIA chip by its PCI device number; empty: none that is known.
std::string nvidia_capability(unsigned device) noexcept;

} // namespace hearth::fingerprints
