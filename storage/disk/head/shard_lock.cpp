#include "storage/disk/head/shard_lock.hpp"

#include <algorithm>
#include <thread>

namespace hearth::storage::disk {

void pause_before_retry(unsigned attempt) noexcept {
  using namespace std::chrono_literals;
  constexpr unsigned yields = 20;
  if (attempt < yields) {
    std::this_thread::yield();
    return;
  }
  const auto doublings = std::min((attempt - yields) / 4, 6u);
  std::this_thread::sleep_for(
      std::min(std::chrono::microseconds(30u << doublings), std::chrono::microseconds(2ms)));
}

bool shard_lock::lock(std::chrono::milliseconds deadline) noexcept {
  const auto start = std::chrono::steady_clock::now();
  if (!retry_until(deadline, [&] { return mutex_.try_lock(); })) return false;
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  const auto left = std::max(deadline - spent, std::chrono::milliseconds(0));
  if (retry_until(left, [&] { return files_.try_lock(head_.get(), true) == 0; })) return true;
  mutex_.unlock();
  return false;
}

void shard_lock::unlock() noexcept {
  files_.unlock(head_.get());
  mutex_.unlock();
}

} // namespace hearth::storage::disk
