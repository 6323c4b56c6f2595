// Runs `hearth bench` as a user does: every row runs on tiny data and prints the lines it promises.
#include "bench/rows.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

namespace rows_test {

using namespace hearth::test;
using namespace hearth::bench;

namespace {

// A line with a figure begins with the name of the row that it belongs to.
void check_lines(const row& wanted, const std::vector<std::string>& lines) {
  const std::regex ratio("RATIO ([a-zA-Z0-9._]+/[a-z_]+) [0-9]+\\.[0-9][0-9]");
  const std::regex value("VALUE ([a-zA-Z0-9.]+\\.[a-zA-Z0-9_]+_[a-z]+) [0-9.e+-]+");
  std::vector<std::string> ratios;
  std::size_t values = 0;
  REQUIRE(!lines.empty());
  CHECK(lines[0].starts_with("machine: "));
  for (std::size_t i = 1; i < lines.size(); i += 2) {
    REQUIRE_MESSAGE(i + 1 < lines.size(), lines[i]);
    std::smatch found;
    const bool is_ratio = std::regex_match(lines[i + 1], found, ratio);
    const bool is_value = !is_ratio && std::regex_match(lines[i + 1], found, value);
    REQUIRE_MESSAGE((is_ratio || is_value), lines[i + 1]);
    CHECK_MESSAGE(lines[i].starts_with(found[1].str() + ": "), lines[i]);
    CHECK(found[1].str().starts_with(wanted.name));
    if (is_ratio) ratios.push_back(found[1]);
    values += is_value;
  }
  std::vector<std::string> promised;
  for (const auto& peer : wanted.peers)
    promised.push_back(wanted.name + "/" + peer);
  CHECK(ratios == promised);
  CHECK((values > 0 || !promised.empty()));
}

} // namespace

TEST_CASE("every row runs and prints the lines it promises and leaves no file behind") {
  const temporary_directory directory;
  const auto work = directory / "work";
  std::filesystem::create_directory(work);
  for (const auto& one : all_rows().rows) {
    CAPTURE(one.name);
    const auto result =
        run_hearth({"bench", "--smoke", "--dir", work.string(), one.name}, directory.path());
    CHECK_MESSAGE(result.status == 0, result.err);
    CHECK(result.err.empty());
    check_lines(one, lines_of(result.out));
    CHECK(std::filesystem::is_empty(work));
  }
}

TEST_CASE("each row can be run alone, by its name") {
  const auto all = all_rows();
  for (const auto& one : all.rows) {
    const auto selected = select_rows(all, {one.name});
    REQUIRE(selected);
    CHECK_MESSAGE((selected->size() == 1 && selected->front() == &one), one.name);
  }
}

TEST_CASE("an unknown row name is bad usage and the message lists the rows") {
  const temporary_directory directory;
  const auto result = run_hearth({"bench", "nothing"}, directory.path());
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK(result.err.starts_with("hearth-bench: no row starts with 'nothing'; there are: mem."));
}

TEST_CASE("the rows are listed with their descriptions") {
  const temporary_directory directory;
  const auto result = run_hearth({"bench", "--list"}, directory.path());
  CHECK(result.status == 0);
  CHECK(lines_of(result.out).size() == all_rows().rows.size());
}

TEST_CASE("JSON holds the same figures") {
  const temporary_directory directory;
  const auto result = run_hearth({"--json", "bench", "--smoke", "mem.index.1t"}, directory.path());
  CHECK(result.status == 0);
  const auto all = result.json();
  CHECK(all["machine"].is_string());
  REQUIRE(all["ratios"].size() == 1);
  CHECK(all["ratios"][0]["row"] == "mem.index.1t");
  CHECK(all["ratios"][0]["peer"] == "mutex");
  CHECK(all["ratios"][0]["ratio"].is_number());
}

TEST_CASE("a missing directory is trouble") {
  const temporary_directory directory;
  const auto missing = (directory / "missing").string();
  const auto result = run_hearth({"bench", "--dir", missing, "mem.index.1t"}, directory.path());
  CHECK(result.status != 0);
  CHECK(result.out.empty());
  CHECK_MESSAGE(result.err.find(missing) != std::string::npos, result.err);
}

} // namespace rows_test
