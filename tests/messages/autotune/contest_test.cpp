#include "messages/autotune/contest.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace contest_test {

using namespace hearth;

namespace {

// Runs the contest until it is decided and counts the measurements of each candidate.
std::map<std::size_t, int> run(contest& rounds,
                               const std::function<std::int64_t(std::size_t, int round)>& time) {
  std::map<std::size_t, int> measured;
  for (int round = 0;; ++round) {
    const auto who = rounds.next_round();
    if (who.empty()) return measured;
    for (const auto one : who) {
      rounds.note(one, time(one, round));
      ++measured[one];
    }
  }
}

contest of(std::initializer_list<std::size_t> contenders) {
  contest rounds;
  for (const auto one : contenders)
    rounds.enter(one);
  return rounds;
}

} // namespace

TEST_CASE("a contest with a clear winner is decided after one round") {
  auto rounds = of({0, 1, 2});
  const auto measured = run(rounds, [](std::size_t i, int) { return i == 1 ? 100 : 200; });
  CHECK(rounds.winner() == 1);
  CHECK(measured == std::map<std::size_t, int>{{0, 1}, {1, 1}, {2, 1}});
  CHECK(rounds.slowest_ns() == 200);
}

TEST_CASE("close candidates are measured in turn, and one that is behind drops out") {
  auto rounds = of({0, 1, 2});
  const std::int64_t times[] = {100, 110, 190};
  const auto measured = run(rounds, [&](std::size_t i, int) { return times[i]; });
  CHECK(rounds.winner() == 0);
  CHECK(measured == std::map<std::size_t, int>{{0, 4}, {1, 4}, {2, 1}});
}

TEST_CASE("a disturbance of one round decides nothing: the median counts") {
  auto rounds = of({0, 1});
  // The faster one is slow in its first round; the other is fast in one.
  const std::int64_t first[] = {125, 100, 100, 101, 100};
  const std::int64_t second[] = {104, 103, 90, 104, 103};
  run(rounds, [&](std::size_t i, int round) { return i == 0 ? first[round] : second[round]; });
  CHECK(rounds.winner() == 0);
  CHECK(rounds.median_ns(0) == 100);
  CHECK(rounds.median_ns(1) == 103);
}

TEST_CASE("a contest that stays close ends") {
  auto rounds = of({0, 1});
  const auto measured = run(rounds, [](std::size_t, int) { return 100; });
  CHECK(measured.at(0) == static_cast<int>(contest::max_rounds));
  CHECK(rounds.winner() == 0);
}

TEST_CASE("an unmeasurable candidate drops out, and an empty contest has no winner") {
  auto rounds = of({3, 5});
  CHECK(rounds.next_round() == std::vector<std::size_t>{3, 5});
  rounds.drop(3);
  rounds.note(5, 40);
  CHECK(rounds.next_round().empty());
  CHECK(rounds.winner() == 5);
  contest none;
  CHECK(none.next_round().empty());
  CHECK_FALSE(none.winner());
}

} // namespace contest_test
