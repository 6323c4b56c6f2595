#include "runtime/cli/io/metrics_file.hpp"

#include "runtime/cli/io/files.hpp"

namespace hearth::cli {

expected<void> write_metrics(const runtime& rt, const std::optional<std::string>& path) {
  if (!path) return {};
  const auto page = rt.metrics();
  if (!page) return fail(page.error());
  return write_file(*path, *page);
}

} // namespace hearth::cli
