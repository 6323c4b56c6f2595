// Rows: the measurements of `hearth-bench`, and how a row measures.
//
// A row takes turns: Hearth and its peers do the same work one after the other, in many rounds, and
// a ratio is the median of the rounds' ratios. An absolute figure is not stable from run to run;
// the ratio of two figures measured within the same second is.
//
// Owner: main. One thread runs rows; a turn ends the threads and processes that it starts.
#pragma once

#include "bench/frame/report.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::bench {

/// How the program was called.
struct settings {
  std::filesystem::path directory; ///< private directory in which rows make and remove files
  unsigned rounds = 7;
  bool smoke = false; ///< tiny data, one round: checks that rows run
  std::string only;   ///< runs only this contender's turns, for profilers, without ratios
};

/// A contender in a row: `name` is `hearth` or the peer's name.
struct contender {
  std::string name;
  /// One turn: does the work and returns the seconds that one operation took.
  std::function<double()> turn;
  /// Called before each turn, not timed; may be empty.
  std::function<void()> prepare{};
};

/// One run of one row.
class row_run {
public:
  row_run(std::string row, const settings& how, report& out)
      : row_(std::move(row))
      , how_(how)
      , out_(out) {}

  const settings& how() const noexcept { return how_; }
  /// Returns `full`, or a hundredth of it (at least `least`) in a smoke run.
  std::size_t scaled(std::size_t full, std::size_t least) const noexcept;
  /// Whether this contender is to run.
  bool wants(std::string_view contender) const noexcept {
    return how_.only.empty() || how_.only == contender;
  }

  /// Runs the turns of all and reports the first (Hearth) against each other: `RATIO row/peer ...`.
  /// `operation` names the timed operation: "a get of 16 KiB". A round is `turns_a_round` turns of
  /// each: with short turns, a disturbance by other processes affects all contenders alike.
  void compare(const std::vector<contender>& all, std::string_view operation,
               unsigned turns_a_round = 1);
  /// Reports `VALUE row.what_unit number`, after a line that describes the measurement.
  void value(std::string_view what_unit, double number, std::string_view made_of);

private:
  std::string row_;
  const settings& how_;
  report& out_;
};

/// A measurement of `hearth-bench`.
struct row {
  std::string name;               ///< "store.get.16k"
  std::string work;               ///< description of its work, in one line
  std::vector<std::string> peers; ///< in the order of its ratios; empty: it prints values
  std::function<void(row_run&)> measure;
};

/// A role that this program plays when a row starts it as a child process:
/// `hearth-bench --role NAME ARGUMENT...`.
struct role {
  std::string name;
  std::function<int(const std::vector<std::string>& arguments)> play;
};

/// Rows in the order in which they run, and the roles that they use.
struct registry {
  std::vector<row> rows;
  std::vector<role> roles;
};

/// The rows whose names start with one of `prefixes`; all rows without a prefix. A whole name
/// selects that row alone. Errors: `invalid_argument` for a prefix of no row, with the list of
/// rows.
expected<std::vector<const row*>> select_rows(const registry& all,
                                              const std::vector<std::string>& prefixes);

} // namespace hearth::bench
