// A file system that can lose power: unsynced data may then be there, or not, or in part.
//
// For every file and folder that a store touched it keeps the content that is certain to survive; a
// seed decides on the rest. For one process; any thread. It syncs nothing really, so it is fast.
#pragma once

#include "tests/support/faulty_file_system.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace hearth::test {

/// The order in which changes of a folder reach the disk. No file system on which a store is
/// created reorders removals in one folder; on some, syncing a file also syncs its name.
enum class folder_order {
  journal, ///< in the order of the calls: a prefix of them survives
  loose,   ///< removals in order, each new name and rename independently
};

/// The state of a folder after a power loss: files by their path in it.
struct disk_image {
  std::map<std::filesystem::path, std::string> files;
  std::set<std::filesystem::path> folders;
};

class volatile_file_system : public faulty_file_system {
public:
  int open_at(int directory, const char* name, int flags, mode_t mode) noexcept override;
  ssize_t write_at(int fd, const iovec* parts, int count, std::uint64_t offset) noexcept override;
  int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  int punch(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  int resize(int fd, std::uint64_t bytes) noexcept override;
  int sync(int fd) noexcept override;
  int make_directory_at(int directory, const char* name, mode_t mode) noexcept override;
  int remove_at(int directory, const char* name) noexcept override;
  int rename_at(int directory, const char* from, const char* to) noexcept override;
  int link_at(int directory, const char* from, const char* to) noexcept override;

  void set_order(folder_order order) { order_ = order; }
  /// From now on some blocks of some files, chosen by `seed`, reach the disk on their own while the
  /// store works, like a kernel's write-back.
  void write_back_sometimes(std::uint64_t seed);

  /// Writes `from` to `to` as a power loss now might leave it; `seed` decides.
  void lose_power(const std::filesystem::path& from, const std::filesystem::path& to,
                  std::uint64_t seed);

  /// Loses the power of `root` right before the call that would change the disk after `calls` more
  /// such calls. From then on they fail; `restart` shows the remaining state.
  void lose_power_after(int calls, const std::filesystem::path& root, std::uint64_t seed);
  void lose_power_now(const std::filesystem::path& root, std::uint64_t seed);
  bool is_dead() const { return dead_; }
  /// Gives the folder the state after the power loss, in place, so that remaining files are the
  /// same files, and starts the machine again. All files must be closed.
  void restart();

private:
  using file_id = std::uint64_t; // inode numbers are reused, these are not
  struct change {
    std::string removed; // names; empty: none
    std::string added;
    file_id id = 0;
  };
  struct folder {
    std::filesystem::path path;
    std::map<std::string, file_id> synced, now;
    std::vector<change> news; // changes since it was synced
  };
  struct node {
    std::string durable;             // contents that survive
    std::optional<std::string> last; // contents when its last name was removed
    ino_t folder = 0;                // for a folder: its inode
  };

  bool may_change() noexcept;
  folder& folder_at(const std::filesystem::path& path);
  folder& folder_of(int directory, const char*& name, std::string& base);
  file_id id_of(const std::filesystem::path& path);
  void note(folder& in, change made);
  void write_back();
  std::map<std::string, file_id> surviving(const folder& of);
  std::string left_of(const std::string& name, const node& one, const folder& in, file_id id);
  void draw(const std::filesystem::path& real, const std::filesystem::path& shown, disk_image& out);
  disk_image image_of(const std::filesystem::path& root, std::uint64_t seed);
  bool coin() { return (random_() & 1) != 0; }

  std::recursive_mutex state_mutex_;
  std::map<ino_t, folder> folders_;
  std::map<file_id, node> nodes_;
  std::map<ino_t, file_id> ids_;
  file_id last_id_ = 0;
  folder_order order_ = folder_order::journal;
  std::mt19937_64 random_;
  std::optional<std::mt19937_64> write_backs_;
  int calls_left_ = -1;
  std::uint64_t seed_ = 0;
  std::filesystem::path root_;
  disk_image left_;
  int starts_ = 0;
  std::atomic<bool> dead_{false};
};

/// Writes an image; a file that exists already keeps its inode.
void write_image(const disk_image& image, const std::filesystem::path& to);

} // namespace hearth::test
