// The server's counters as a page for Prometheus (docs/metrics.md). Pure functions, any thread.
#pragma once

#include "runtime/server/status/server_counters.hpp"

#include <string>

namespace hearth::server {

/// The counters in Prometheus's text format, version 0.0.4; each name begins with `hearth_serve_`.
/// It can follow the page of `runtime::metrics()`: they share no name. The trusted namespace has
/// the label "".
std::string server_metrics(const server_counters& counters);

} // namespace hearth::server
