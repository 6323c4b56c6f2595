#include "messages/autotune/choice.hpp"

#include <algorithm>

namespace hearth {
namespace {

std::optional<std::int64_t> as_integer(const value& v) {
  if (const auto* flag = v.as<bool>()) return *flag ? 1 : 0;
  if (const auto* number = v.as<std::int64_t>()) return *number;
  return std::nullopt;
}

// An integer and a float are equal when the float has exactly that value.
bool equal(std::int64_t integer, double real) {
  constexpr double end = 9223372036854775808.0; // 2^63
  return real >= -end && real < end && static_cast<std::int64_t>(real) == integer &&
         static_cast<double>(static_cast<std::int64_t>(real)) == real;
}

bool matches(const kernel_config& candidate, const kernel_config& best) {
  const auto has = [&](const auto& argument) {
    const auto at = best.arguments.find(argument.first);
    // As `dict.get`: a missing argument is None.
    return equal_as_python(argument.second, at == best.arguments.end() ? value() : at->second);
  };
  return std::all_of(candidate.arguments.begin(), candidate.arguments.end(), has) &&
         candidate.num_warps == best.num_warps && candidate.num_stages == best.num_stages;
}

kernel_config rebuilt(kernel_config best) {
  if (!best.num_consumer_groups) best.num_consumer_groups = 0;
  if (!best.num_buffers_warp_spec) best.num_buffers_warp_spec = 0;
  return best;
}

} // namespace

bool equal_as_python(const value& a, const value& b) {
  const auto x = as_integer(a);
  const auto y = as_integer(b);
  if (x && y) return *x == *y;
  if (x && b.as<double>()) return equal(*x, *b.as<double>());
  if (y && a.as<double>()) return equal(*y, *a.as<double>());
  return a == b;
}

std::optional<chosen_config> choose(const autotune_record& record, const autotune_choices& among) {
  if (record.configs_hash != among.configs_hash) return std::nullopt;
  if (among.coordinate_descent && record.config.found_by_coordesc)
    return chosen_config{rebuilt(record.config), std::nullopt};
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < among.configs.size(); ++i) {
    if (!matches(among.configs[i], record.config)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  if (!found) return std::nullopt;
  return chosen_config{among.configs[*found], found};
}

} // namespace hearth
