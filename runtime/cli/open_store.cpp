#include "runtime/cli/open_store.hpp"

#include <system_error>
#include <utility>

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

// Ignores errors: opening the store reports them later.
fs::file_type type_of(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type();
}

} // namespace

bool has_no_store(const fs::path& directory) {
  const auto type = type_of(directory);
  return type == fs::file_type::not_found ||
         (type == fs::file_type::directory &&
          type_of(directory / "v1") == fs::file_type::not_found);
}

expected<std::unique_ptr<storage::store>> open_store(const config& settings, store_use use) {
  if (has_no_store(settings.store))
    return fail(errc::io, "there is no store at " + settings.store.string() +
                              "; give --store DIR or set HEARTH_STORE");
  storage::store_options options;
  options.directory = settings.store;
  options.budget_bytes = settings.disk_budget_bytes;
  options.read_only = use == store_use::look;
  options.guard_sigbus = true;
  options.sync_interval = std::chrono::milliseconds(0);
  return storage::store::open(std::move(options));
}

status store_trouble(const error& why) {
  report(why);
  return trouble;
}

} // namespace hearth::cli
