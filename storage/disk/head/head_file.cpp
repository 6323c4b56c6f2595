#include "storage/disk/head/head_file.hpp"

#include "storage/disk/head/temporary_files.hpp"
#include "storage/disk/os/errors.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>

namespace hearth::storage::disk {
namespace {

constexpr const char* head_name = "head";

} // namespace

expected<head_file> head_file::open(file_system& system, int directory,
                                    const std::filesystem::path& path, bool read_only,
                                    std::uint64_t opening_id) {
  head_file opened(system, directory, (path / head_name).string());
  file head = opened.open_file(read_only ? O_RDONLY : O_RDWR);
  if (head.error() == ENOENT && !read_only) {
    auto made = opened.make(opening_id);
    if (!made) return fail(made.error());
    head = std::move(*made);
  }
  if (!head) return fail(system_error(head.error(), "open", opened.path_));
  if (auto mapped = opened.map(head, read_only); !mapped) return fail(mapped.error());
  return opened;
}

file head_file::open_file(int flags) const noexcept {
  return {*system_, system_->open_at(directory_, head_name, flags | O_NOFOLLOW, 0)};
}

expected<file> head_file::open_for_lock() const {
  file opened = open_file(O_RDWR);
  if (!opened) return fail(system_error(opened.error(), "open", path_));
  return opened;
}

// Links a complete head to its name atomically; if several processes make one, the first wins.
expected<file> head_file::make(std::uint64_t opening_id) const {
  const auto name = temporary_name(head_name, opening_id);
  const auto broken = [&](int error, std::string_view action) {
    system_->remove_at(directory_, name.c_str());
    return fail(system_error(error, action, path_));
  };
  const file made(*system_, system_->open_at(directory_, name.c_str(),
                                             O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600));
  if (!made) return broken(made.error(), "make");
  // Zeros: no word's check bits are right, so that the first process to open it builds the shard.
  const std::array<char, page_bytes> zeros{};
  const auto wrote = write_fully(*system_, made.get(), zeros.data(), zeros.size(), 0);
  if (wrote.error) return broken(wrote.error, "write");
  const int linked = system_->link_at(directory_, name.c_str(), head_name);
  // ENOENT: another process made the head meanwhile and removed this file as an abandoned one.
  if (linked < 0 && linked != -EEXIST && linked != -ENOENT) return broken(-linked, "link");
  system_->remove_at(directory_, name.c_str());
  file head = open_file(O_RDWR);
  if (!head) return fail(system_error(head.error(), "open", path_));
  return head;
}

expected<void> head_file::map(const file& head, bool read_only) {
  struct stat about {};
  if (const int stated = system_->status(head.get(), about); stated < 0)
    return fail(system_error(-stated, "read", path_));
  if (static_cast<std::uint64_t>(about.st_size) < page_bytes) {
    // The file was cut: the missing part reads as zeros, whose check bits are wrong.
    if (read_only)
      return fail(errc::corrupt, path_ + " is cut short; open the store for writing once");
    if (const int made = system_->allocate(head.get(), 0, page_bytes); made < 0)
      return fail(system_error(-made, "make room for", path_));
  }
  int error = 0;
  void* page = system_->map(head.get(), page_bytes, !read_only, nullptr, error);
  if (!page) return fail(system_error(error, "map", path_));
  mapping_ = mapping(*system_, page, page_bytes);
  inode_ = static_cast<std::uint64_t>(about.st_ino) & head_value_mask;
  return {};
}

bool head_file::is_in_place() const noexcept {
  struct stat at_path {};
  return !has_faulted(mapping_.data()) &&
         system_->status_at(AT_FDCWD, path_.c_str(), at_path) == 0 &&
         (static_cast<std::uint64_t>(at_path.st_ino) & head_value_mask) == inode_;
}

} // namespace hearth::storage::disk
