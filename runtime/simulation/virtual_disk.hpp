// The disk of a simulated host: directories, files and locks in memory, and their state after a
// power loss. Every process of the host works on it through `process_files` of its own.
//
// Files are anonymous memory, so that mappings of them are real. One thread.
#pragma once

#include "runtime/simulation/random_source.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace hearth::simulation {

/// A file or directory.
struct inode {
  explicit inode(std::uint64_t inode_number, bool directory, mode_t permissions);
  inode(const inode&) = delete;
  inode& operator=(const inode&) = delete;
  ~inode();
  using entries = std::map<std::string, std::shared_ptr<inode>>;

  /// Length and blocks of a file. Writes through a mapping change neither: the store maps no holes.
  struct extent {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0; ///< number of 512-byte blocks
  };
  const extent& size() const;
  std::string contents() const;
  void replace_contents(std::string_view bytes) const;

  std::uint64_t number;
  bool is_directory;
  mode_t mode;
  int memory = -1;                         ///< a file's bytes: descriptor of anonymous memory
  nlink_t links = 0;                       ///< names that a file has
  std::string durable;                     ///< a file's bytes when it was synced
  entries names;                           ///< entries of a directory
  entries durable_names;                   ///< entries when it was synced
  std::map<int, bool> locks;               ///< flock: description, whether exclusive
  std::map<std::uint64_t, int> byte_locks; ///< offset, description
  mutable bool has_changed = true;         ///< whether it changed since `size` was called

private:
  mutable extent extent_;
};

class virtual_disk {
public:
  virtual_disk();
  virtual_disk(const virtual_disk&) = delete;
  virtual_disk& operator=(const virtual_disk&) = delete;

  // --- system calls: a negative result is minus an errno
  int open(int directory, std::string_view path, int flags, mode_t mode);
  void close(int fd);
  int make_directory(int directory, std::string_view path, mode_t mode);
  int remove(int directory, std::string_view path);
  int rename(int directory, std::string_view from, std::string_view to);
  int link(int directory, std::string_view from, std::string_view to);
  int list(int directory, std::vector<std::string>& names);
  int status(int fd, struct stat& out);
  int status_at(int directory, std::string_view path, struct stat& out);
  int sync(int fd);
  int try_lock(int fd, bool exclusive);
  void unlock(int fd);
  int try_lock_byte(int fd, std::uint64_t offset);
  void unlock_byte(int fd, std::uint64_t offset);
  /// The descriptor of the file's memory, for reads and mappings; -EBADF.
  int memory_of(int fd) const;
  /// The same, for calls that change length, blocks or bytes.
  int memory_to_change(int fd);

  // --- operations of the host
  /// Loses what was not synced: `random` decides for every sector of 512 bytes, for each length and
  /// for each directory's changes whether it survives. No descriptor may be open.
  void lose_power(random_source& random);
  /// Syncs return at once and make nothing durable, as on a disk that lies about its cache.
  void lie_about_syncs(bool lies) { lies_ = lies; }
  /// Paths of all files below `path`, sorted.
  std::vector<std::string> files_below(std::string_view path) const;
  /// The file at a path, or null.
  std::shared_ptr<inode> find(std::string_view path) const;
  bool remove_file(std::string_view path);
  /// The bytes that the files' blocks occupy.
  std::uint64_t used_bytes() const;
  std::size_t open_descriptions() const { return open_.size(); }
  std::uint64_t power_losses() const { return power_losses_; }

private:
  struct place {
    std::shared_ptr<inode> directory; // null: the directory does not exist
    std::string name;                 // empty: the directory itself
  };
  place resolve(int directory, std::string_view path) const;
  std::shared_ptr<inode> look_up(int directory, std::string_view path) const;
  std::shared_ptr<inode> of(int fd) const;
  void lose_in(inode& directory, random_source& random) const;

  std::map<int, std::shared_ptr<inode>> open_;
  int next_descriptor_ = 1'000'000; // distinct from the process's own
  std::uint64_t next_inode_ = 1;
  std::shared_ptr<inode> root_;
  std::uint64_t power_losses_ = 0;
  bool lies_ = false;
};

} // namespace hearth::simulation
