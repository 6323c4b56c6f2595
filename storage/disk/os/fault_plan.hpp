// Which calls of a file system fail: the plan that file systems of tests and of the simulator
// follow. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/uio.h>

namespace hearth::storage {

/// The calls that a plan can make fail.
enum class disk_call : std::uint8_t {
  open,
  read,
  write,
  allocate,
  sync,
  map,
  resize,
  rename,
  remove,
  lock,
  count
};
std::string_view to_string(disk_call call) noexcept;
std::optional<disk_call> disk_call_named(std::string_view name) noexcept;

/// Which calls of one kind fail.
struct disk_fault {
  int error = 0;                           ///< an errno; 0: none
  std::uint64_t after = 0;                 ///< calls that succeed first
  std::uint64_t times = ~std::uint64_t{0}; ///< calls that fail after those
};

class fault_plan {
public:
  /// Replaces the plan for these calls.
  void fail(disk_call call, disk_fault fault);
  /// A write takes at most this many bytes at a time; 0: no limit.
  void limit_writes(std::size_t bytes);
  void heal();

  /// Counts a call. Returns minus the errno with which the call fails, or 0.
  int next(disk_call call) noexcept;
  /// The number of calls of this kind so far.
  std::uint64_t calls(disk_call call) const;
  std::size_t write_limit() const;

private:
  static constexpr auto kinds = static_cast<std::size_t>(disk_call::count);

  mutable std::mutex mutex_;
  std::array<disk_fault, kinds> faults_{};
  std::array<std::uint64_t, kinds> counts_{};
  std::size_t write_limit_ = 0;
};

/// The first non-empty part of a write, cut to at most `max_bytes`.
iovec shortened(const iovec* parts, int count, std::size_t max_bytes) noexcept;

} // namespace hearth::storage
