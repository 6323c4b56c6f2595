// hearth bundle: commands that carry artifacts between machines in a file.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/cli/io/output.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearth::cli {

struct bundle_arguments {
  std::string file;                   ///< `-`: stdin or stdout
  std::vector<std::string> keys;      ///< export: only these keys
  std::optional<std::string> cache;   ///< export: only this named cache
  std::filesystem::path signing_keys; ///< keys that sign or verify; empty: neither
  bool json = false;
};

/// Returns `no` and writes nothing when a key is not in the store.
status export_bundle(const config& settings, const bundle_arguments& arguments);
/// Imports into the disk tier alone.
status import_bundle(const config& settings, const bundle_arguments& arguments);
status list_bundle(const config& settings, const bundle_arguments& arguments);

} // namespace hearth::cli
