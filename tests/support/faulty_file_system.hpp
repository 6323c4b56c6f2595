// A file system whose calls fail when a test says so.
//
// For one process. Plans are changed between calls by the test; calls may come from any thread.
#pragma once

#include "storage/disk/os/fault_plan.hpp"
#include "storage/disk/os/file_system.hpp"

#include <atomic>
#include <string>

namespace hearth::test {

using call = storage::disk_call;

class faulty_file_system : public storage::file_system {
public:
  /// From now on, calls of this kind fail with `error` after `after` more have succeeded, for
  /// `times` calls; 0 ends the failures.
  void fail(call kind, int error, unsigned after = 0, unsigned times = ~0u) {
    plan_.fail(kind, {error, after, times});
  }
  void heal();
  /// Writes take at most this many bytes at a time; 0: no limit.
  void limit_writes(std::size_t bytes) { plan_.limit_writes(bytes); }
  /// From now on writes fail for good after this many bytes, as on a full disk; -1: never.
  void fill_after(std::int64_t bytes) { room_ = bytes; }
  void pretend_type(long type) { type_ = type; }
  void pretend_boot(std::string id) { boot_ = std::move(id); }
  int calls(call kind) const { return static_cast<int>(plan_.calls(kind)); }

  int open_at(int directory, const char* name, int flags, mode_t mode) noexcept override;
  ssize_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept override;
  ssize_t write_at(int fd, const iovec* parts, int count, std::uint64_t offset) noexcept override;
  int allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept override;
  int resize(int fd, std::uint64_t bytes) noexcept override;
  int sync(int fd) noexcept override;
  int rename_at(int directory, const char* from, const char* to) noexcept override;
  int remove_at(int directory, const char* name) noexcept override;
  void* map(int fd, std::size_t bytes, bool writable, void* fixed, int& error) noexcept override;
  int try_lock(int fd, bool exclusive) noexcept override;
  int try_lock_byte(int fd, std::uint64_t offset) noexcept override;
  long type_of(int fd) noexcept override;
  std::string boot_id() noexcept override;

protected:
  /// Counts a call. Returns minus the errno with which it is to fail, or 0.
  int fault(call kind) noexcept { return plan_.next(kind); }

private:
  storage::fault_plan plan_;
  std::atomic<std::int64_t> room_{-1};
  long type_ = 0;
  std::string boot_;
};

} // namespace hearth::test
