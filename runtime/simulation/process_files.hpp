// The file system as one simulated process sees it: calls fail when the script says so, and after
// the process was killed no call has any effect. One thread.
#pragma once

#include "runtime/simulation/virtual_disk.hpp"
#include "storage/disk/os/fault_plan.hpp"
#include "storage/disk/os/file_system.hpp"

#include <cstddef>
#include <memory>
#include <set>

namespace hearth::simulation {

using storage::disk_call;
using storage::disk_fault;

class process_files final : public storage::file_system {
public:
  explicit process_files(std::shared_ptr<virtual_disk> disk)
      : disk_(std::move(disk)) {}
  ~process_files() override;

  void fail(disk_call call, disk_fault fault) { plan_.fail(call, fault); }
  /// Limits the bytes of one write; 0: no limit.
  void limit_writes(std::size_t bytes) { plan_.limit_writes(bytes); }
  /// The next `count` writes report success and change nothing.
  void lose_writes(std::uint64_t count) { lost_writes_ = count; }
  /// The disk is full: no block can be allocated any more.
  void fill() { full_ = true; }
  void heal();
  /// Kills the process: its descriptors close, its locks are released, and its later calls have no
  /// effect.
  void die();
  std::size_t open_descriptors() const { return mine_.size(); }

  int open_at(int directory, const char* name, int flags, mode_t mode) noexcept override;
  void close(int fd) noexcept override;
  ssize_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept override;
  ssize_t write_at(int fd, const iovec* parts, int count, std::uint64_t offset) noexcept override;
  int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  int punch(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  int resize(int fd, std::uint64_t bytes) noexcept override;
  int sync(int fd) noexcept override;
  int status(int fd, struct stat& out) noexcept override;
  int status_at(int directory, const char* name, struct stat& out) noexcept override;
  int make_directory_at(int directory, const char* name, mode_t mode) noexcept override;
  int remove_at(int directory, const char* name) noexcept override;
  int rename_at(int directory, const char* from, const char* to) noexcept override;
  int link_at(int directory, const char* from, const char* to) noexcept override;
  int list(int directory, std::vector<std::string>& names) noexcept override;
  void* map(int fd, std::size_t bytes, bool writable, void* fixed, int& error) noexcept override;
  int try_lock(int fd, bool exclusive) noexcept override;
  void unlock(int fd) noexcept override;
  int try_lock_byte(int fd, std::uint64_t offset) noexcept override;
  void unlock_byte(int fd, std::uint64_t offset) noexcept override;
  long type_of(int fd) noexcept override;
  std::uint64_t free_bytes(int fd) noexcept override;
  std::string boot_id() noexcept override;

private:
  int fault(disk_call call) noexcept;

  std::shared_ptr<virtual_disk> disk_;
  storage::fault_plan plan_;
  std::set<int> mine_; // open descriptors
  std::uint64_t lost_writes_ = 0;
  bool full_ = false;
  bool dead_ = false;
};

} // namespace hearth::simulation
