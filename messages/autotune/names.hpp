// The names under which tunings are kept: Inductor's derivations, byte for byte (docs/autotune.md).
// Pure functions, any thread.
#pragma once

#include "messages/digest.hpp"
#include "messages/visibility.hpp"

#include <string>
#include <string_view>

namespace HEARTH_PUBLIC hearth {

/// The named caches of tunings. A remote tier that is used for `autotune` only is also used for its
/// parts.
inline constexpr std::string_view local_tunings = "autotune";
inline constexpr std::string_view remote_tunings = "autotune.best";
inline constexpr std::string_view inductor_tunings = "autotune.inductor"; ///< in Inductor's form
inline constexpr std::string_view bundled_tunings = "autotune.bundle";
inline constexpr std::string_view measured_choices = "autotune.choices";

/// The values, besides kernel and candidates, on which a tuning's names depend.
struct tuning_scope {
  digest toolchain;         ///< each toolchain has its own database
  std::string backend_hash; ///< hash of the device or machine that runs the kernels
  std::string tag;          ///< from the configuration; distinguishes databases
};

/// SHA-256 hex of `basename:tag`, with the basename of `filename`, which names the kernel by its
/// content.
std::string prepared_key(std::string_view filename, std::string_view tag);
/// SHA-256 hex of the prepared key and the toolchain's 32 bytes, and `.best_config`.
std::string local_name(std::string_view prepared_key, const digest& toolchain);
/// SHA-256 hex of toolchain hex, backend hash, configs hash and `autotune-best-config-v2`.
std::string remote_id(const tuning_scope& scope, std::string_view configs_hash);

/// The name of an entry of Inductor's remote caches on the server: `pt2:`, the cache's id, `::`,
/// the key, `:c1`.
std::string inductor_name(std::string_view cache_id, std::string_view key);

/// The remote cache of bundles.
inline constexpr std::string_view bundle_id = "bundled-autotune-v1";
/// SHA-256 hex of code hash, backend hash and `bundled-autotune-best-configs-v1`.
std::string bundle_key(std::string_view code_hash, std::string_view backend_hash);

} // namespace hearth
