#include "runtime/process/worker/trial_timing.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace hearth::worker {
namespace {

constexpr std::int64_t round_ns = 500'000;
constexpr std::int64_t slow_ns = 10'000'000; // for longer calls, cold caches do not matter

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Calls the kernel until a round is long enough to measure, which warms it up too.
std::int64_t calls_of_a_round(const kernel_call& call) {
  std::int64_t calls = 1;
  while (time_calls(call, calls) < round_ns)
    calls *= 2;
  return calls;
}

} // namespace

std::int64_t time_calls(const kernel_call& call, std::int64_t calls) {
  const auto start = now_ns();
  for (std::int64_t i = 0; i < calls; ++i)
    call();
  return now_ns() - start;
}

timing time_kernel(const kernel_call& call, std::int64_t first_ns, std::int64_t budget_ns) {
  std::vector<std::int64_t> rounds;
  std::int64_t calls = 1;
  std::int64_t spent = 0;
  std::int64_t longest = first_ns;
  if (first_ns < slow_ns) {
    calls = calls_of_a_round(call);
    longest = 0;
  } else {
    rounds.push_back(first_ns);
    spent = first_ns;
  }
  while (rounds.empty() || spent + longest <= budget_ns) {
    const auto round = time_calls(call, calls);
    spent += round;
    longest = std::max(longest, round);
    rounds.push_back(round / calls);
  }
  const auto quick = rounds.begin() + static_cast<std::ptrdiff_t>((rounds.size() - 1) / 10);
  std::nth_element(rounds.begin(), quick, rounds.end());
  return {std::max<std::int64_t>(*quick, 1), static_cast<std::int64_t>(rounds.size())};
}

} // namespace hearth::worker
