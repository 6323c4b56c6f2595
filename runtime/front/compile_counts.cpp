#include "runtime/front/compile_counts.hpp"

#include "runtime/os/files/number_file.hpp"

#include <atomic>

namespace hearth::front {
namespace {

// The file: a format number, then a number for each end, the time saved, and one for each reason.
constexpr std::uint64_t format = 0x3154'4e43'4854'5248; // "HRTHCNT1"
constexpr std::size_t saved_place = 31;
constexpr std::size_t first_reason = 32;
constexpr std::size_t most_reasons = 64;
constexpr std::size_t places = first_reason + most_reasons;

static_assert(compile_counts::ends == static_cast<std::size_t>(compile_end::trouble) + 1);
os::number_file counts_in(const std::filesystem::path& store, bool makes) {
  return {store / "compiles.count", format, places, makes};
}

void count(const std::filesystem::path& store, std::size_t place, std::int64_t saved_ns) {
  const auto file = counts_in(store, true);
  if (!file) return;
  file.at(place).fetch_add(1, std::memory_order_relaxed);
  if (saved_ns > 0)
    file.at(saved_place).fetch_add(static_cast<std::uint64_t>(saved_ns), std::memory_order_relaxed);
}

} // namespace

void count_compile(const std::filesystem::path& store, compile_end how, std::int64_t saved_ns) {
  count(store, static_cast<std::size_t>(how), saved_ns);
}

void count_compile(const std::filesystem::path& store, launcher::uncached why) {
  count(store, first_reason + static_cast<std::size_t>(why), 0);
}

compile_counts counts_of_compiles(const std::filesystem::path& store) {
  compile_counts all;
  const auto file = counts_in(store, false);
  if (!file) return all;
  for (std::size_t i = 0; i < all.by_end.size(); ++i)
    all.by_end[i] = file.at(i).load(std::memory_order_relaxed);
  all.saved_ns = file.at(saved_place).load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < most_reasons; ++i)
    if (const auto times = file.at(first_reason + i).load(std::memory_order_relaxed); times != 0)
      all.uncached[std::string(launcher::reason_text(static_cast<launcher::uncached>(i)))] += times;
  return all;
}

bool forget_counts_of_compiles(const std::filesystem::path& store) {
  const auto file = counts_in(store, true);
  for (std::size_t i = 0; file && i < places; ++i)
    file.at(i).store(0, std::memory_order_relaxed);
  return static_cast<bool>(file);
}

} // namespace hearth::front
