#include "storage/disk/store/lease_file.hpp"

#include "storage/disk/os/errors.hpp"

#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {
namespace {

constexpr const char* lease_name = "leases";

// Offsets of a file are signed, so the top bits are cut: keys whose hashes differ only there share
// a lease, and merely wait.
constexpr std::uint64_t byte_of(std::uint64_t hash) noexcept {
  return hash & (~std::uint64_t{0} >> 2);
}

} // namespace

expected<std::unique_ptr<lease_table>> lease_file::open(file_system& files, int directory,
                                                        const std::filesystem::path& path) {
  file opened(files, files.open_at(directory, lease_name, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  if (!opened) return fail(system_error(opened.error(), "open", path / lease_name));
  return std::make_unique<lease_file>(files, std::move(opened), path / lease_name);
}

expected<bool> lease_file::try_acquire(std::uint64_t hash) {
  if (fork_generation() != born_)
    return fail(errc::forked, "leases of " + path_.string() +
                                  " do not outlive a fork: open the store again in the child");
  if (held_.contains(byte_of(hash))) return false;
  const int locked = files_.try_lock_byte(file_.get(), byte_of(hash));
  if (locked == -EAGAIN || locked == -EACCES) return false;
  if (locked < 0) return fail(system_error(-locked, "lock a lease in", path_));
  held_.emplace(byte_of(hash), 0);
  return true;
}

void lease_file::release(std::uint64_t hash) {
  if (fork_generation() != born_) return;
  const auto ended = held_.extract(byte_of(hash));
  if (ended.empty()) return;
  if (ended.mapped() != 0) signs_.clear(byte_of(hash));
  files_.unlock_byte(file_.get(), byte_of(hash));
}

void lease_file::beat(std::uint64_t hash, lease_stage stage) {
  const auto held = held_.find(byte_of(hash));
  if (fork_generation() != born_ || held == held_.end()) return;
  signs_.write(byte_of(hash), ++held->second, stage);
}

expected<std::optional<lease_holder>> lease_file::holder(std::uint64_t hash) const {
  std::optional<lease_holder> found;
  if (const int read = signs_.read(byte_of(hash), found); read < 0)
    return fail(system_error(-read, "read signs of life in", path_));
  return found;
}

} // namespace hearth::storage::disk
