#include "storage/disk/os/sigbus_guard.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace hearth::storage::disk {
namespace {

struct guarded {
  std::atomic<std::uintptr_t> begin{0}; // 0: free; 1: being filled in
  std::atomic<std::uintptr_t> end{0};
  std::atomic<unsigned> faults{0};
};

std::array<guarded, 8192> ranges;
// No position from this one on was ever used.
std::atomic<std::size_t> used{0};
struct sigaction former;

guarded* find_range(std::uintptr_t address, bool exactly) noexcept {
  const auto count = used.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = ranges[i].begin.load(std::memory_order_acquire);
    if (begin <= 1) continue;
    if (exactly ? begin == address : begin <= address && address < ranges[i].end.load())
      return &ranges[i];
  }
  return nullptr;
}

// Async-signal-safe: atomics and mmap alone.
bool replace_page(void* fault) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(fault);
  auto* range = find_range(address, false);
  if (!range) return false;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  range->faults.fetch_add(1, std::memory_order_relaxed);
  return ::mmap(reinterpret_cast<void*>(address / page * page), page, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

void pass_on(int number, siginfo_t* info, void* context) {
  if (former.sa_flags & SA_SIGINFO) {
    former.sa_sigaction(number, info, context);
  } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
    former.sa_handler(number);
  } else {
    ::signal(number, SIG_DFL); // the access is repeated, and ends the process
  }
}

void handle(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  if (!replace_page(info->si_addr)) pass_on(number, info, context);
  errno = saved;
}

} // namespace

void install_sigbus_guard() noexcept {
  static const int installed = [] {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &former);
  }();
  (void)installed;
}

void guard_range(const void* address, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    std::uintptr_t free = 0;
    if (!ranges[i].begin.compare_exchange_strong(free, 1)) continue;
    ranges[i].faults.store(0, std::memory_order_relaxed);
    ranges[i].end.store(begin + bytes, std::memory_order_relaxed);
    ranges[i].begin.store(begin, std::memory_order_release);
    auto count = used.load();
    while (count < i + 1 && !used.compare_exchange_weak(count, i + 1)) {
    }
    return;
  }
}

void unguard_range(const void* address) noexcept {
  if (auto* range = find_range(reinterpret_cast<std::uintptr_t>(address), true))
    range->begin.store(0, std::memory_order_release);
}

bool has_faulted(const void* address) noexcept {
  const auto* range = find_range(reinterpret_cast<std::uintptr_t>(address), true);
  return range && range->faults.load(std::memory_order_relaxed) > 0;
}

} // namespace hearth::storage::disk
