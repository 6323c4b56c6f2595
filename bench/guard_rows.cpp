// guard: the cost of evaluating an entry's guard.
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include "messages/guard.hpp"

#include <fmt/format.h>
#include <stdexcept>

namespace hearth::bench {
namespace {

constexpr const char* ten_terms =
    "s0 % 8 == 0 and s1 > 1 and s2 <= 4096 and s0 * s1 < 2147483648 and s3 == 64 and "
    "s1 + s2 != 7 and Mod(s2, 4) == 0 and s0 // 2 >= 16 and Max(s0, s1) < 100000 and s2 != s3";

void measure(row_run& run) {
  const auto guard = guard_expression::parse(ten_terms);
  if (!guard) throw std::runtime_error(guard.error().text());
  const auto values = guard->bind({{"s0", 1024}, {"s1", 33}, {"s2", 512}, {"s3", 64}});
  const auto evaluations = run.scaled(2'000'000, 1'000);
  std::vector<double> seconds;
  for (unsigned round = 0; round < run.how().rounds; ++round) {
    std::size_t held = 0;
    const stopwatch watch;
    for (std::size_t i = 0; i < evaluations; ++i)
      held += guard->evaluate(values).value_or(false);
    seconds.push_back(watch.seconds() / static_cast<double>(evaluations));
    if (held != evaluations) throw std::runtime_error("the guard does not hold");
  }
  run.value("eval_ns", median(seconds) * 1e9,
            fmt::format("a guard of ten terms that hold, values bound before; median of {} rounds "
                        "of {} evaluations",
                        run.how().rounds, evaluations));
}

} // namespace

void add_guard_rows(registry& all) {
  all.rows.push_back({"guard", "evaluating a guard of ten terms", {}, measure});
}

} // namespace hearth::bench
