// Merges the command line, the environment and a configuration file: an option overrides a
// variable, a variable the file, the file the default.
#pragma once

#include "messages/error.hpp"
#include "runtime/api/config.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::cli {

/// The options of the command line; empty when not given.
struct given_options {
  std::optional<std::string> store;
  std::optional<std::string> config_file;
  std::optional<std::string> disk_budget; ///< "10GiB"
  std::optional<std::string> memory_budget;
  std::optional<std::string> jobs;
  std::optional<std::string> patience;     ///< "5min"
  std::optional<std::string> watch;        ///< "yes" or "no"
  std::optional<std::string> keep_details; ///< the same
  std::optional<std::string> tuning_tag;   ///< of `hearth compile`
  /// Keys of `remote_settings` with their texts, in the order of the command line: each `remote`
  /// begins a tier, to which those behind it belong. Those before the first belong to all.
  std::vector<std::pair<std::string, std::string>> remote;
  bool verbose = false;
  bool quiet = false;
  bool json = false;
};

/// The value of an environment variable, or nothing.
using environment = std::function<std::optional<std::string>(std::string_view name)>;

/// This process's environment.
std::optional<std::string> process_environment(std::string_view name);

/// The runtime's configuration. The store is `--store`, `$HEARTH_STORE`, the file's `store`,
/// `$XDG_CACHE_HOME/hearth`, `~/.cache/hearth`. Errors: `not_found` (the file), `malformed` (its
/// line and key), `invalid_argument` (an option or variable, by name).
expected<config> resolve(const given_options& given, const environment& variables);

/// Puts what the command line gives over settings from another file, that of `hearth serve`: the
/// store, the budgets, and the members of the remote tier one by one. Variables and the
/// configuration file change nothing there. Errors: `invalid_argument` (the option, by name).
expected<void> put_over(config& settings, const given_options& given);

/// The tag of tunings: `--tuning-tag`, `$HEARTH_TUNING_TAG`, the file's `tuning_tag`, or empty.
/// Errors: those of reading the file.
expected<std::string> tuning_tag(const given_options& given, const environment& variables);

} // namespace hearth::cli
