// The counters of a run as a file in Prometheus's text format, which node_exporter's textfile
// collector reads.
#pragma once

#include "runtime/handle/runtime.hpp"

#include <optional>
#include <string>

namespace hearth::cli {

/// Writes the counters of `rt` to `path`; does nothing without a path. Errors: those of writing the
/// file.
expected<void> write_metrics(const runtime& rt, const std::optional<std::string>& path);

} // namespace hearth::cli
