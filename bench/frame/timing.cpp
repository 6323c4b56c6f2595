#include "bench/frame/timing.hpp"

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace hearth::bench {

double seconds_an_operation(std::size_t threads,
                            const std::function<std::uint64_t(std::size_t thread)>& work) {
  // The threads themselves take the time: this thread may wake up milliseconds late.
  stopwatch watch;
  double seconds = 0;
  std::barrier together(static_cast<std::ptrdiff_t>(threads),
                        [&]() noexcept { watch = stopwatch(); });
  std::atomic<std::size_t> at_work = threads;
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> running;
  for (std::size_t thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      together.arrive_and_wait();
      done += work(thread);
      if (--at_work == 0) seconds = watch.seconds();
    });
  for (auto& one : running)
    one.join();
  return seconds / static_cast<double>(done.load());
}

} // namespace hearth::bench
