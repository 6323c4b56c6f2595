// Metrics as Prometheus reads them: its text exposition format, version 0.0.4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hearth {

/// A page of metrics that is written from top to bottom. One thread at a time.
class metrics_page {
public:
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a metric, whose samples come next. `name` is lower case with '_', without the prefix
  /// "hearth_"; that of a counter ends with "_total". `help` is a sentence.
  void counter(std::string_view name, std::string_view help) { begin(name, "counter", help); }
  void gauge(std::string_view name, std::string_view help) { begin(name, "gauge", help); }
  /// One value of the metric that was begun last. Labels hold any text.
  void sample(std::uint64_t value, labels with = {});
  /// A metric of a single value.
  void counter(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, std::uint64_t value);

  const std::string& text() const noexcept { return text_; }
  /// The samples alone: "hearth_hits_total{tier=\"memory\"} 7", a line each.
  std::string samples() const;

private:
  void begin(std::string_view name, std::string_view type, std::string_view help);

  std::string name_; // of the metric that was begun last
  std::string text_;
};

} // namespace hearth
