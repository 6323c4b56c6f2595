#include "runtime/process/worker_path.hpp"

#include "runtime/os/find_program.hpp"

#include <cstdlib>
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

} // namespace

expected<std::string> find_worker(const std::string& configured) {
  if (!configured.empty()) return given(configured, "the configuration");
  if (const char* path = std::getenv("HEARTH_WORKER"); path && *path)
    return given(path, "HEARTH_WORKER");
  std::error_code ignored;
  const auto folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path places[] = {folder / "hearth-worker",
                             folder.parent_path() / "libexec/hearth/hearth-worker",
                             HEARTH_INSTALLED_WORKER, HEARTH_BUILT_WORKER};
  std::string looked_at;
  for (const auto& place : places) {
    if (os::is_program(place.string())) return place.string();
    looked_at += (looked_at.empty() ? "" : ", ") + place.string();
  }
  return fail(errc::not_found, "no hearth-worker at " + looked_at + "; name it in HEARTH_WORKER");
}

} // namespace hearth::process
