// Single entries, and the content of a store, from the command line.
#include "messages/unix_time.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <map>

namespace entries_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct shell {
  program_result hearth(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", store});
    return run_hearth(std::move(arguments), directory.path());
  }
  std::string file(const std::string& name, const std::string& content) const {
    write_text(directory / name, content);
    return (directory / name).string();
  }

  temporary_directory directory;
  std::string store = (directory / "store").string();
};

} // namespace

TEST_CASE_FIXTURE(shell, "an entry is inserted once got put and erased") {
  const auto one = file("one", std::string("bytes\0and more\n", 15));
  check_error(hearth({"get", "k"}), 1, "no entry \"k\" in cache 'default'");
  CHECK(hearth({"insert", "k", one}).out == "inserted\n");
  const auto again = hearth({"insert", "k", file("two", "late")});
  CHECK(again.status == 1);
  CHECK(again.out == "exists\n");
  CHECK(hearth({"get", "k"}).out == file_text(one));
  CHECK(hearth({"put", "k", (directory / "two").string()}).out == "stored\n");
  const auto out = (directory / "out").string();
  CHECK(hearth({"get", "k", "-o", out}).status == 0);
  CHECK(file_text(out) == "late");
  CHECK(hearth({"erase", "k"}).out == "erased\n");
  const auto absent = hearth({"erase", "k"});
  CHECK(absent.status == 1);
  CHECK(absent.out == "absent\n");
  CHECK(hearth({"get", "k"}).status == 1);
}

TEST_CASE_FIXTURE(shell, "an empty value is a hit") {
  CHECK(hearth({"insert", "k", "/dev/null"}).status == 0);
  const auto found = hearth({"get", "k"});
  CHECK(found.status == 0);
  CHECK(found.out.empty());
}

TEST_CASE_FIXTURE(shell, "caches of two names do not see each other") {
  const auto one = file("one", "1");
  CHECK(hearth({"insert", "k", one, "--cache", "a"}).status == 0);
  CHECK(hearth({"get", "k", "--cache", "b"}).status == 1);
  CHECK(hearth({"get", "k", "--cache", "a"}).out == "1");
}

TEST_CASE_FIXTURE(shell, "list and stats show the stored entries") {
  check_error(hearth({"list"}), 3, "no store");
  check_error(hearth({"stats"}), 3, "no store");
  const auto one = file("one", "12345");
  CHECK(hearth({"insert", "a key", one, "--cache", "first"}).status == 0);
  CHECK(hearth({"insert", "b", one, "--cache", "second"}).status == 0);
  const auto all = hearth({"list", "--json"}).json();
  CHECK(all.size() == 2);
  const auto first = hearth({"list", "--json", "--cache", "first"}).json();
  REQUIRE(first.size() == 1);
  CHECK(first[0].at("cache") == "first");
  CHECK(first[0].at("key") == "\"a key\"");
  CHECK(first[0].at("payload_bytes") == 5);
  CHECK(first[0].at("version") == "0");
  CHECK(first[0].at("version_tag") == "5feceb66");
  const auto stats = hearth({"stats", "--json"}).json();
  CHECK(stats.at("entries") == 2);
  CHECK(lines_of(hearth({"list"}).out).size() == 3);
}

TEST_CASE_FIXTURE(shell, "the option --json reports the outcome") {
  const auto one = file("one", "abc");
  CHECK(hearth({"insert", "k", one, "--json"}).json().at("status") == "inserted");
  const auto hit = hearth({"get", "k", "--json"}).json();
  CHECK(hit.at("status") == "hit");
  CHECK(hit.at("tier") == "disk");
  CHECK(hit.at("payload_base64") == "YWJj");
  const auto miss = hearth({"get", "other", "--json"});
  CHECK(miss.status == 1);
  CHECK(miss.json().at("status") == "miss");
}

TEST_CASE_FIXTURE(shell, "bad usage is one line and status 2") {
  check_error(hearth({}), 2, "--help");
  check_error(hearth({"fetch", "k"}), 2, "fetch");
  check_error(hearth({"get"}), 2, "KEY");
  check_error(hearth({"get", "k", "--colour"}), 2, "--colour");
  check_error(hearth({"get", "k", "--cache", "../x"}), 2, "../x");
  check_error(hearth({"insert", "k", (directory / "none").string()}), 2, "none");
  check_error(hearth({"insert", "k", directory.path().string()}), 2, "directory");
  check_error(hearth({"get", std::string(70'000, 'k')}), 2, "65000");
  check_error(hearth({"get", "k", "--memory-budget", "much"}), 2, "--memory-budget");
  check_error(hearth({"compile", "x.toml", "--jobs", "0"}), 2, "--jobs");
}

TEST_CASE_FIXTURE(shell, "settings come from a file and errors name its line") {
  const auto settings = file("hearth.toml", "store = \"" + (directory / "other").string() + "\"\n");
  const auto one = file("one", "1");
  CHECK(run_hearth({"insert", "k", one, "--config", settings}, directory.path()).status == 0);
  CHECK(fs::exists(directory / "other"));
  const auto bad = file("bad.toml", "jobs = 2\ncolour = 1\n");
  check_error(hearth({"get", "k", "--config", bad}), 2, "bad.toml:2: colour");
  const auto broken = file("broken.toml", "jobs = \n");
  check_error(hearth({"get", "k", "--config", broken}), 2, "broken.toml:1");
  check_error(hearth({"get", "k", "--config", "none.toml"}), 2, "none.toml");
}

TEST_CASE_FIXTURE(shell, "a store that cannot be used is status 3") {
  store = file("file", "no directory");
  check_error(hearth({"get", "k"}), 3, "store");
  check_error(hearth({"insert", "k", file("one", "1")}), 3, "store");
  check_error(hearth({"list"}), 3, "file");
}

TEST_CASE_FIXTURE(shell, "an entry inserted or put with --ttl has an expiry") {
  const auto one = file("one", "1");
  const auto before = hearth::unix_time_ms();
  CHECK(hearth({"insert", "k", one, "--ttl", "2h"}).out == "inserted\n");
  CHECK(hearth({"put", "p", one, "--ttl", "1d"}).out == "stored\n");
  CHECK(hearth({"insert", "stays", one}).out == "inserted\n");
  const auto after = hearth::unix_time_ms();
  std::map<std::string, std::int64_t> ends;
  for (const auto& entry : hearth({"list", "--json"}).json())
    ends[entry.at("key")] =
        entry.at("expires_unix_ms").is_null() ? 0 : entry.at("expires_unix_ms").get<std::int64_t>();
  constexpr std::int64_t hour = 3'600'000;
  CHECK(ends.at("\"k\"") >= before + 2 * hour);
  CHECK(ends.at("\"k\"") <= after + 2 * hour);
  CHECK(ends.at("\"p\"") >= before + 24 * hour);
  CHECK(ends.at("\"stays\"") == 0);
  CHECK(hearth({"get", "k"}).out == "1");
  CHECK(hearth({"insert", "gone", one, "--ttl", "1ms"}).status == 0);
  CHECK(hearth({"get", "gone"}).status == 1); // the next process begins later than that
  check_error(hearth({"insert", "k2", one, "--ttl", "2"}), 2, "--ttl 2: say a number and a unit");
}

} // namespace entries_test
