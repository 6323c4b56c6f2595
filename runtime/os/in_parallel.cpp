#include "runtime/os/in_parallel.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace hearth::os {

void in_parallel(std::size_t count, std::size_t threads,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (auto i = next.fetch_add(1); i < count; i = next.fetch_add(1))
      work(i);
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t i = 1; i < std::min(threads, count); ++i)
      others.emplace_back(run);
  } catch (const std::system_error&) { // no more threads: those that there are do the work
  }
  run();
}

} // namespace hearth::os
