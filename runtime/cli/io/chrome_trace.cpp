#include "runtime/cli/io/chrome_trace.hpp"

#include "runtime/cli/io/json.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

namespace hearth::cli {

// Times are in microseconds.
std::string chrome_trace(const span_list& spans) {
  auto events = nlohmann::json::array();
  for (const auto& span : spans) {
    auto details = nlohmann::json::object();
    if (!span.key.empty()) details["key"] = span.key;
    if (!span.tier.empty()) details["tier"] = span.tier;
    events.push_back({{"name", span.name},
                      {"cat", span.category},
                      {"ph", "X"},
                      {"ts", static_cast<double>(span.start_ns) / 1e3},
                      {"dur", static_cast<double>(span.duration_ns) / 1e3},
                      {"pid", getpid()},
                      {"tid", span.lane},
                      {"args", std::move(details)}});
  }
  return dump({{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}});
}

} // namespace hearth::cli
