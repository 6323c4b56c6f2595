#include "storage/fork_generation.hpp"

#include <atomic>
#include <pthread.h>

namespace hearth {
namespace {

std::atomic<std::uint64_t> generation{1};

} // namespace

std::uint64_t fork_generation() noexcept {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  return generation.load(std::memory_order_relaxed);
}

} // namespace hearth
