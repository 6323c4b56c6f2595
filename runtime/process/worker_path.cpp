#include "runtime/process/worker_path.hpp"

#include "runtime/os/find_program.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace hearth::process {
namespace {

namespace fs = std::filesystem;

expected<std::string> given(const std::string& path, const char* by) {
  if (!os::is_program(path))
    return fail(errc::not_found, "no program at " + path + ", where " + by +
                                     " has hearth-worker; correct or remove it");
  std::error_code ignored;
  return fs::absolute(path, ignored).string();
}

// The folder of the program or the shared library that this code is in; empty when unknown.
fs::path folder_of_this_code() {
  static const char here = 0;
  Dl_info where{};
  if (dladdr(&here, &where) == 0 || !where.dli_fname) return {};
  std::error_code ignored;
  return fs::canonical(where.dli_fname, ignored).parent_path();
}

} // namespace

expected<std::string> find_worker(const std::string& configured) {
  if (!configured.empty()) return given(configured, "the configuration");
  if (const char* path = std::getenv("HEARTH_WORKER"); path && *path)
    return given(path, "HEARTH_WORKER");
  std::error_code ignored;
  const auto folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto installed = folder_of_this_code().parent_path();
  const fs::path below = "libexec/hearth/hearth-worker";
  const fs::path places[] = {folder / "hearth-worker",
                             folder.parent_path() / below,
                             installed / below,               // lib/libhearth.so
                             installed.parent_path() / below, // lib/<machine>/libhearth.so
                             HEARTH_INSTALLED_WORKER,
                             HEARTH_BUILT_WORKER};
  std::string looked_at;
  for (const auto& place : places) {
    if (place.is_relative()) continue; // unknown, or not configured
    if (os::is_program(place.string())) return place.string();
    looked_at += (looked_at.empty() ? "" : ", ") + place.string();
  }
  return fail(errc::not_found, "no hearth-worker at " + looked_at + "; name it in HEARTH_WORKER");
}

} // namespace hearth::process
