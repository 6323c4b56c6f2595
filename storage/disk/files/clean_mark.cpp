#include "storage/disk/files/clean_mark.hpp"

#include "storage/disk/os/errors.hpp"

#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {
namespace {
constexpr const char* mark_name = "clean";
}

bool clean_mark::exists() const noexcept {
  struct stat about {};
  return files_.status_at(directory_, mark_name, about) == 0;
}

expected<void> clean_mark::remove_before_write() {
  if (wrote()) return {};
  const std::lock_guard lock(mutex_);
  if (wrote()) return {};
  const int removed = files_.remove_at(directory_, mark_name);
  if (removed < 0 && removed != -ENOENT)
    return fail(system_error(-removed, "remove", path_ / mark_name));
  // Syncs in any case: another process may have removed the mark without having synced yet.
  if (const int synced = files_.sync(directory_); synced < 0)
    return fail(system_error(-synced, "sync", path_));
  wrote_.store(true, std::memory_order_release);
  return {};
}

expected<void> clean_mark::set() {
  const file made(files_,
                  files_.open_at(directory_, mark_name, O_CREAT | O_WRONLY | O_NOFOLLOW, 0600));
  if (!made) return fail(system_error(made.error(), "make", path_ / mark_name));
  if (const int synced = files_.sync(directory_); synced < 0) {
    files_.remove_at(directory_, mark_name);
    return fail(system_error(-synced, "sync", path_));
  }
  return {};
}

} // namespace hearth::storage::disk
