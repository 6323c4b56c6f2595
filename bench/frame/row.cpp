#include "bench/frame/row.hpp"

#include "bench/frame/figures.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace hearth::bench {
namespace {

constexpr std::size_t smoke_divisor = 100;

double timed_turn(const contender& one) {
  if (one.prepare) one.prepare();
  return one.turn();
}

} // namespace

std::size_t row_run::scaled(std::size_t full, std::size_t least) const noexcept {
  return how_.smoke ? std::max(full / smoke_divisor, least) : full;
}

void row_run::compare(const std::vector<contender>& all, std::string_view operation,
                      unsigned turns_a_round) {
  std::vector<contender> wanted;
  std::copy_if(all.begin(), all.end(), std::back_inserter(wanted),
               [&](const contender& one) { return wants(one.name); });
  std::map<std::string, std::vector<double>> seconds;
  for (unsigned turn = 0; turn < how_.rounds * turns_a_round; ++turn) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto& next = wanted[(i + turn) % wanted.size()]; // each contender goes first in turn
      auto& rounds = seconds[next.name];
      if (turn % turns_a_round == 0) rounds.push_back(0);
      rounds.back() += timed_turn(next) / turns_a_round;
    }
  }
  if (wanted.size() < all.size()) {
    for (const auto& one : wanted)
      value(one.name + "_ns", median(seconds[one.name]) * 1e9,
            fmt::format("{} rounds, {}", how_.rounds, operation));
    return;
  }
  const auto& ours = seconds[all.front().name];
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& theirs = seconds[all[i].name];
    const auto ratios = ratios_of(theirs, ours);
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    out_.ratio({row_, all[i].name, median(ratios),
                fmt::format("{} {}, {} {} {}; medians of {} rounds, ratios {:.2f} to {:.2f}",
                            all.front().name, time_text(median(ours)), all[i].name,
                            time_text(median(theirs)), operation, how_.rounds, *least, *most)});
  }
}

void row_run::value(std::string_view what_unit, double number, std::string_view made_of) {
  out_.value({row_, std::string(what_unit), number, std::string(made_of)});
}

expected<std::vector<const row*>> select_rows(const registry& all,
                                              const std::vector<std::string>& prefixes) {
  const auto matches = [&](const row& one, const std::string& prefix) {
    const bool is_a_name = std::any_of(all.rows.begin(), all.rows.end(),
                                       [&](const row& other) { return other.name == prefix; });
    return is_a_name ? one.name == prefix : one.name.starts_with(prefix);
  };
  for (const auto& prefix : prefixes) {
    const bool any = std::any_of(all.rows.begin(), all.rows.end(),
                                 [&](const row& one) { return matches(one, prefix); });
    if (any) continue;
    std::string names;
    for (const auto& one : all.rows)
      names += ' ' + one.name;
    return fail(errc::invalid_argument, "no row starts with '" + prefix + "'; there are:" + names);
  }
  std::vector<const row*> selected;
  for (const auto& one : all.rows)
    if (prefixes.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                        [&](const auto& prefix) { return matches(one, prefix); }))
      selected.push_back(&one);
  return selected;
}

} // namespace hearth::bench
