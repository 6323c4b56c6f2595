// The machine that programs are made for: the properties that `-march=native` and a tuner's choice
// depend on. Plain value; any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/value.hpp"
#include "runtime/fingerprints/machine/accelerators.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hearth::fingerprints {

/// A machine's processors, GPUs and system. Machines on which a compiler makes the same program of
/// the same input are equal; so kernel release, host name, clock rates and the number of cores stay
/// out.
struct machine {
  std::string architecture;          ///< "x86_64", as uname reports it
  std::string system;                ///< "Linux", as uname reports it
  std::vector<std::string> models;   ///< each kind of processor once, sorted
  std::vector<std::string> features; ///< ISA and other features, each once, sorted
  accelerators gpus{};               ///< GPUs, their driver and the software for them

  /// The machine as a map with the names above; `gpus` only where there is a driver for some.
  value to_value() const;
  /// SHA-256 of `encode(to_value())`.
  digest identity() const;

  friend bool operator==(const machine&, const machine&) = default;
};

/// The machine whose /proc/cpuinfo has this text. A feature counts when every processor has it.
machine machine_of(std::string_view cpuinfo, std::string architecture, std::string system);

/// This machine with its GPUs, examined once per process. Without a readable /proc/cpuinfo it has
/// no models and no features.
const machine& this_machine();

} // namespace hearth::fingerprints
