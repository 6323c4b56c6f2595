#include "bench/frame/report.hpp"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hearth::bench {

std::string ratio_line(const ratio_figure& figure) {
  return fmt::format("RATIO {}/{} {:.2f}", figure.row, figure.peer, figure.ratio);
}

std::string value_line(const value_figure& figure) {
  const bool whole = std::abs(figure.number) >= 1000 || figure.number == std::floor(figure.number);
  const auto number =
      whole ? fmt::format("{:.0f}", figure.number) : fmt::format("{:.3g}", figure.number);
  return fmt::format("VALUE {}.{} {}", figure.row, figure.what_unit, number);
}

void report::line(const std::string& text) {
  if (form_ == form::json) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                       std::fputc('\n', stdout) != EOF && std::fflush(stdout) == 0;
  failed_ = failed_ || !written;
}

void report::machine(std::string text) {
  line("machine: " + text);
  machine_ = std::move(text);
}

void report::ratio(const ratio_figure& figure) {
  line(fmt::format("{}/{}: {}", figure.row, figure.peer, figure.made_of));
  line(ratio_line(figure));
  ratios_.push_back(figure);
}

void report::value(const value_figure& figure) {
  line(fmt::format("{}.{}: {}", figure.row, figure.what_unit, figure.made_of));
  line(value_line(figure));
  values_.push_back(figure);
}

bool report::finish() {
  if (form_ == form::lines) return !failed_;
  nlohmann::ordered_json all{{"machine", machine_},
                             {"ratios", nlohmann::ordered_json::array()},
                             {"values", nlohmann::ordered_json::array()}};
  for (const auto& one : ratios_)
    all["ratios"].push_back(
        {{"row", one.row}, {"peer", one.peer}, {"ratio", one.ratio}, {"made_of", one.made_of}});
  for (const auto& one : values_)
    all["values"].push_back({{"row", one.row},
                             {"what", one.what_unit},
                             {"value", one.number},
                             {"made_of", one.made_of}});
  const auto text = all.dump(2) + '\n';
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

} // namespace hearth::bench
