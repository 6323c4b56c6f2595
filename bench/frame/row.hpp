// Rows: what `hearth-bench` can measure, and how a row measures.
//
// A row takes turns: Hearth and its peers do the same work one after the other, many rounds over,
// and a ratio is the median of the rounds' ratios. An absolute figure is not stable from run to
// run; the ratio of two that were measured within the same second is.
//
// Owner: main. One thread runs rows; what a turn starts, it ends.
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
  std::filesystem::path directory; ///< a private one: rows make and remove what they want in it
  unsigned rounds = 7;
  bool smoke = false; ///< tiny data, one round: does it run at all?
  std::string only;   ///< this contender's turns alone, for profilers; no ratios then
};

/// Who takes turns: `name` is `hearth` or the peer's.
struct contender {
  std::string name;
  /// One turn: does the work and returns the seconds that one operation took.
  std::function<double()> turn;
  /// What comes before each turn and is not timed; may be empty.
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
  /// `full` of something, or a hundredth of it (at least `least`) in a smoke run.
  std::size_t scaled(std::size_t full, std::size_t least) const noexcept;
  /// Whether this contender is wanted at all.
  bool wants(std::string_view contender) const noexcept {
    return how_.only.empty() || how_.only == contender;
  }

  /// Lets all take turns, the first (Hearth) against each of the others: `RATIO row/peer ...`.
  /// `operation` is what a figure is the time of: "a get of 16 KiB". A round is so many turns of
  /// each: what others do to the machine for a moment meets all contenders alike when turns are
  /// short.
  void compare(const std::vector<contender>& all, std::string_view operation,
               unsigned turns_a_round = 1);
  /// `VALUE row.what_unit number`, after a line with what it was made of.
  void value(std::string_view what_unit, double number, std::string_view made_of);

private:
  std::string row_;
  const settings& how_;
  report& out_;
};

/// Something that can be measured.
struct row {
  std::string name;               ///< "store.get.16k"
  std::string work;               ///< what it does, in one line
  std::vector<std::string> peers; ///< in the order of its ratios; none: it prints values
  std::function<void(row_run&)> measure;
};

/// A role that this program plays when a row starts it again as a process of its own:
/// `hearth-bench --role NAME ARGUMENT...`.
struct role {
  std::string name;
  std::function<int(const std::vector<std::string>& arguments)> play;
};

/// Rows in the order in which they are run, and the roles that they use.
struct registry {
  std::vector<row> rows;
  std::vector<role> roles;
};

/// The rows whose names start with one of `prefixes`, all without one. Errors:
/// `invalid_argument` for a prefix of none, with the list of what there is.
expected<std::vector<const row*>> select_rows(const registry& all,
                                              const std::vector<std::string>& prefixes);

} // namespace hearth::bench
