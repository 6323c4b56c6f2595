// The benchmark's output on stdout, as lines during the run or as JSON at the end.
//
// Owner: main; one thread. Lines, one figure each, after a line that describes the measurement:
//   RATIO <row>/<peer> <Hearth's speed as a multiple of the peer's>
//   VALUE <row>.<what>_<unit> <number>
#pragma once

#include "messages/error.hpp"

#include <string>
#include <vector>

namespace hearth::bench {

struct ratio_figure {
  std::string row;
  std::string peer;
  double ratio;
  std::string made_of;
};

struct value_figure {
  std::string row;
  std::string what_unit; ///< "closed_ms"
  double number;
  std::string made_of;
};

class report {
public:
  enum class form { lines, json };
  explicit report(form as)
      : form_(as) {}

  /// Reports the machine and the directory; called first.
  void machine(std::string text);
  void ratio(const ratio_figure& figure);
  void value(const value_figure& figure);
  /// Prints the whole report if it is JSON. False: stdout cannot be written.
  bool finish();
  const std::vector<ratio_figure>& ratios() const noexcept { return ratios_; }

private:
  void line(const std::string& text);

  form form_;
  bool failed_ = false;
  std::string machine_;
  std::vector<ratio_figure> ratios_;
  std::vector<value_figure> values_;
};

/// "RATIO store.get.16k/lmdb 1.05"
std::string ratio_line(const ratio_figure& figure);
/// "VALUE disk.open.1M.closed_ms 12.3"
std::string value_line(const value_figure& figure);

} // namespace hearth::bench
