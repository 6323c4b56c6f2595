#include "storage/disk/store/fleet_mark.hpp"

#include "storage/disk/head/temporary_files.hpp"
#include "storage/disk/os/errors.hpp"

#include <fcntl.h>

namespace hearth::storage::disk {
namespace {
constexpr const char* mark_name = "fleet";
}

std::string read_fleet_mark(file_system& system, int folder) {
  const file opened(system, system.open_at(folder, mark_name, O_RDONLY | O_NOFOLLOW, 0));
  if (!opened) return {};
  std::string mark(max_fleet_mark_bytes, '\0');
  const auto got = read_fully(system, opened.get(), mark.data(), mark.size(), 0);
  mark.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return mark;
}

expected<void> write_fleet_mark(file_system& system, int folder, std::uint64_t opening_id,
                                std::string_view mark, const std::filesystem::path& path) {
  remove_abandoned_files(system, folder);
  const auto name = temporary_name(mark_name, opening_id);
  const auto broken = [&](int error, std::string_view action) {
    system.remove_at(folder, name.c_str());
    return fail(system_error(error, action, path / mark_name));
  };
  const file made(system, system.open_at(folder, name.c_str(),
                                         O_CREAT | O_TRUNC | O_WRONLY | O_NOFOLLOW, 0600));
  if (!made) return broken(made.error(), "make");
  (void)system.try_lock(made.get(), true); // so that no other process takes it for abandoned
  const auto wrote = write_fully(system, made.get(), mark.data(), mark.size(), 0);
  if (wrote.error) return broken(wrote.error, "write");
  if (const int synced = system.sync(made.get()); synced < 0) return broken(-synced, "sync");
  if (const int moved = system.rename_at(folder, name.c_str(), mark_name); moved < 0)
    return broken(-moved, "replace");
  return {};
}

} // namespace hearth::storage::disk
