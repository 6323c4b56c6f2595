// hearth bundle: artifacts carried between machines in a file.
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
  std::vector<std::string> keys;      ///< of export: these alone
  std::optional<std::string> cache;   ///< of export: this named cache alone
  std::filesystem::path signing_keys; ///< signs, or must have signed; empty: neither
  bool json = false;
};

/// Status `no`, and nothing written, when a key is not there.
status export_bundle(const config& settings, const bundle_arguments& arguments);
/// Into the disk tier alone.
status import_bundle(const config& settings, const bundle_arguments& arguments);
status list_bundle(const config& settings, const bundle_arguments& arguments);

} // namespace hearth::cli
