// Metrics in the text exposition format of Prometheus, version 0.0.4.
#pragma once

#include "messages/visibility.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace HEARTH_PUBLIC hearth {

/// A page of metrics that is written from top to bottom. One thread at a time.
class metrics_page {
public:
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// Begins a metric; its samples follow. `name` is lower case with '_', without the prefix
  /// "hearth_"; a counter's name ends with "_total". `help` is a sentence.
  void counter(std::string_view name, std::string_view help) { begin(name, "counter", help); }
  void gauge(std::string_view name, std::string_view help) { begin(name, "gauge", help); }
  /// Adds a value of the metric that was begun last. Labels hold any text.
  void sample(std::uint64_t value, labels with = {});
  /// Adds a metric with a single value.
  void counter(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, std::uint64_t value);

  const std::string& text() const noexcept { return text_; }
  /// Only the samples, one per line: "hearth_hits_total{tier=\"memory\"} 7".
  std::string samples() const;

private:
  void begin(std::string_view name, std::string_view type, std::string_view help);

  std::string name_; // name of the metric that was begun last
  std::string text_;
};

} // namespace hearth
