// The part of `limits.receiving_bytes` that one value being received takes. Owned by one session;
// the total is shared by all threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace hearth::server {

class receiving_quota {
public:
  /// `total` outlives this object.
  receiving_quota(std::atomic<std::uint64_t>& total, std::uint64_t limit)
      : total_(total)
      , limit_(limit) {}
  receiving_quota(const receiving_quota&) = delete;
  receiving_quota& operator=(const receiving_quota&) = delete;
  ~receiving_quota() { total_ -= taken_; }

  /// Takes as much as is missing to `bytes`. Returns false, and takes nothing, above the limit.
  bool grow_to(std::uint64_t bytes) {
    if (bytes <= taken_) return true;
    const auto more = bytes - taken_;
    if (total_.fetch_add(more) + more > limit_) {
      total_ -= more;
      return false;
    }
    taken_ = bytes;
    return true;
  }

private:
  std::atomic<std::uint64_t>& total_;
  const std::uint64_t limit_;
  std::uint64_t taken_ = 0;
};

} // namespace hearth::server
