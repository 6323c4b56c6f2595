#include "storage/disk/os/fault_plan.hpp"

#include <algorithm>

namespace hearth::storage {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(disk_call::count)> disk_call_names{
    "open", "read", "write", "allocate", "sync", "map", "resize", "rename", "remove", "lock"};

std::size_t number_of(disk_call call) noexcept { return static_cast<std::size_t>(call); }

} // namespace

std::string_view to_string(disk_call call) noexcept { return disk_call_names[number_of(call)]; }

std::optional<disk_call> disk_call_named(std::string_view name) noexcept {
  const auto at = std::find(disk_call_names.begin(), disk_call_names.end(), name);
  if (at == disk_call_names.end()) return std::nullopt;
  return static_cast<disk_call>(at - disk_call_names.begin());
}

void fault_plan::fail(disk_call call, disk_fault fault) {
  const std::lock_guard lock(mutex_);
  faults_[number_of(call)] = fault;
}

void fault_plan::limit_writes(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  write_limit_ = bytes;
}

void fault_plan::heal() {
  const std::lock_guard lock(mutex_);
  faults_ = {};
  write_limit_ = 0;
}

int fault_plan::next(disk_call call) noexcept {
  const std::lock_guard lock(mutex_);
  ++counts_[number_of(call)];
  auto& fault = faults_[number_of(call)];
  if (fault.error == 0) return 0;
  if (fault.after > 0) {
    --fault.after;
    return 0;
  }
  if (fault.times == 0) return 0;
  --fault.times;
  return -fault.error;
}

std::uint64_t fault_plan::calls(disk_call call) const {
  const std::lock_guard lock(mutex_);
  return counts_[number_of(call)];
}

std::size_t fault_plan::write_limit() const {
  const std::lock_guard lock(mutex_);
  return write_limit_;
}

iovec shortened(const iovec* parts, int count, std::size_t max_bytes) noexcept {
  while (parts->iov_len == 0 && --count > 0)
    ++parts;
  return {parts->iov_base, std::min(parts->iov_len, max_bytes)};
}

} // namespace hearth::storage
