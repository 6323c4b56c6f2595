// The counters of a run as a file for Prometheus: of its text format, as node_exporter's textfile
// collector takes it.
#pragma once

#include "runtime/handle/runtime.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

/// Writes them, when a path is given.
expected<void> write_metrics(const runtime& rt, const std::optional<std::string>& path);

} // namespace hearth::cli
