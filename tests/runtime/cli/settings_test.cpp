// The sources of settings, and the store's location among them.
#include "messages/size_text.hpp"
#include "runtime/cli/settings/settings.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <map>
#include <vector>

namespace settings_test {

using namespace hearth;
using namespace hearth::cli;

namespace {

// The given options, variables and file; this process's own environment has no influence.
struct places {
  test::temporary_directory directory;
  given_options given;
  std::map<std::string, std::string, std::less<>> variables{{"HOME", "/home/u"}};

  void file(const std::string& text) {
    test::write_text(directory / "hearth.toml", text);
    given.config_file = (directory / "hearth.toml").string();
  }
  expected<config> resolved() const {
    return resolve(given, [this](std::string_view name) {
      const auto at = variables.find(name);
      return at == variables.end() ? std::nullopt : std::optional(at->second);
    });
  }
  std::string store() const { return resolved().value().store.string(); }
};

} // namespace

TEST_CASE("the store's place is the option's, the variable's, the file's, XDG's or HOME's") {
  places at;
  CHECK(at.store() == "/home/u/.cache/hearth");
  at.variables["XDG_CACHE_HOME"] = "/xdg";
  CHECK(at.store() == "/xdg/hearth");
  at.file("store = \"/file\"\n");
  CHECK(at.store() == "/file");
  at.variables["HEARTH_STORE"] = "/variable";
  CHECK(at.store() == "/variable");
  at.given.store = "/option";
  CHECK(at.store() == "/option");
}

TEST_CASE("an empty variable or one without an absolute path has no effect") {
  places at;
  at.variables["XDG_CACHE_HOME"] = "relative";
  at.variables["HEARTH_STORE"] = "";
  CHECK(at.store() == "/home/u/.cache/hearth");
  at.variables["XDG_CACHE_HOME"] = "";
  CHECK(at.store() == "/home/u/.cache/hearth");
}

TEST_CASE("without any location the error tells how to give one") {
  places at;
  at.variables.clear();
  const auto none = at.resolved();
  REQUIRE_FALSE(none);
  CHECK(none.error().text().find("--store") != std::string::npos);
  CHECK(none.error().text().find("HEARTH_STORE") != std::string::npos);
}

TEST_CASE("an option overrides a variable, a variable the file, and errors name the place") {
  places at;
  at.file("# settings\njobs = 3\ndisk_budget = \"2GiB\"\n");
  CHECK(at.resolved()->jobs == 3);
  CHECK(at.resolved()->disk_budget_bytes == 2u << 30);
  at.variables["HEARTH_JOBS"] = "5";
  CHECK(at.resolved()->jobs == 5);
  at.given.jobs = "7";
  CHECK(at.resolved()->jobs == 7);

  at.given.jobs = "0";
  CHECK(at.resolved().error().text().starts_with("--jobs: "));
  at.given.jobs.reset();
  at.variables["HEARTH_JOBS"] = "many";
  CHECK(at.resolved().error().text().starts_with("$HEARTH_JOBS: "));
  at.variables.erase("HEARTH_JOBS");
  at.file("jobs = 3\nshelves = 4\n");
  CHECK(at.resolved().error().code() == errc::malformed);
  CHECK(at.resolved().error().text().find("hearth.toml:2: shelves: unknown key") !=
        std::string::npos);
}

TEST_CASE(
    "what the command line gives goes over another file, member by member, and no variable does") {
  config from_file;
  from_file.store = "/of-the-file";
  from_file.disk_budget_bytes = 1;
  from_file.memory_budget_bytes = 2;
  from_file.remote.url = "redis://of-the-file:6379";
  from_file.remote.prefix = "kept";
  SUBCASE("nothing is given: nothing changes") {
    auto settings = from_file;
    REQUIRE(put_over(settings, {}));
    CHECK(settings.store == "/of-the-file");
    CHECK(settings.disk_budget_bytes == 1);
    CHECK(settings.memory_budget_bytes == 2);
    CHECK(settings.remote.url == "redis://of-the-file:6379");
  }
  SUBCASE("all is given: the file's other members stay") {
    given_options given;
    given.store = "/given";
    given.disk_budget = "3GiB";
    given.memory_budget = "64MiB";
    given.remote = {{"remote", "redis://given:6380"}, {"remote_deadline", "70ms"}};
    auto settings = from_file;
    REQUIRE(put_over(settings, given));
    CHECK(settings.store == "/given");
    CHECK(settings.disk_budget_bytes == 3ull << 30);
    CHECK(settings.memory_budget_bytes == 64u << 20);
    CHECK(settings.remote.url == "redis://given:6380");
    CHECK(settings.remote.deadline == std::chrono::milliseconds(70));
    CHECK(settings.remote.prefix == "kept");
  }
  SUBCASE("a wrong one is told by its name") {
    given_options given;
    given.disk_budget = "0";
    CHECK(put_over(from_file, given).error().text().starts_with("--disk-budget: "));
    given = {};
    given.store = "";
    CHECK(put_over(from_file, given).error().text().starts_with("--store: "));
  }
}

namespace {

std::vector<std::string> urls_of(const config& settings) {
  std::vector<std::string> all{settings.remote.url};
  for (const auto& one : settings.remote.farther)
    all.push_back(one.url);
  return all;
}

} // namespace

TEST_CASE("remote tiers: each --remote begins one, and options before the first are of all") {
  using std::chrono::milliseconds;
  places at;
  at.given.remote = {{"remote_ttl", "7d"},
                     {"remote", "redis://near"},
                     {"remote_deadline", "20ms"},
                     {"remote", "redis://far"},
                     {"remote_mode", "read-only"}};
  at.variables["HEARTH_REMOTE"] = "redis://of-the-variable";
  at.variables["HEARTH_REMOTE_DEADLINE"] = "70ms";
  at.variables["HEARTH_REMOTE_PREFIX"] = "p";
  const auto settings = at.resolved().value();
  CHECK(urls_of(settings) == std::vector<std::string>{"redis://near", "redis://far"});
  const auto& far = settings.remote.farther.front();
  CHECK(settings.remote.deadline == milliseconds(20));
  CHECK(far.deadline == milliseconds(70));
  CHECK(settings.remote.mode == remote_mode::read_write);
  CHECK(far.mode == remote_mode::read_only);
  CHECK(settings.remote.ttl == std::chrono::hours(7 * 24));
  CHECK(far.ttl == settings.remote.ttl);
  CHECK(far.prefix == "p");
  CHECK(far.farther.empty());
}

TEST_CASE("remote tiers: a single --remote has the options before and behind it, and the file's") {
  places at;
  at.file("remote_deadline = \"30ms\"\n[[remotes]]\nurl = \"redis://of-the-file\"\n"
          "mode = \"read-only\"\n");
  at.given.remote = {{"remote_prefix", "p"}, {"remote", "redis://given"}, {"remote_ttl", "1h"}};
  const auto settings = at.resolved().value();
  CHECK(urls_of(settings) == std::vector<std::string>{"redis://given"});
  CHECK(settings.remote.prefix == "p");
  CHECK(settings.remote.ttl == std::chrono::hours(1));
  CHECK(settings.remote.deadline == std::chrono::milliseconds(30));
  CHECK(settings.remote.mode == remote_mode::read_write); // of the other tier
}

TEST_CASE("remote tiers: a variable, and the file's key, have several URLs with blanks between") {
  places at;
  at.file("remote = \"redis://a redis://b\"\n");
  CHECK(urls_of(at.resolved().value()) == std::vector<std::string>{"redis://a", "redis://b"});
  at.variables["HEARTH_REMOTE"] = " redis://c  redis://d redis://e ";
  at.variables["HEARTH_REMOTE_MODE"] = "read-only";
  const auto settings = at.resolved().value();
  CHECK(urls_of(settings) == std::vector<std::string>{"redis://c", "redis://d", "redis://e"});
  CHECK(settings.remote.farther.back().mode == remote_mode::read_only);
}

TEST_CASE("remote tiers: tables of the file are over its keys, and below variables and options") {
  using std::chrono::milliseconds;
  places at;
  at.file("remote_deadline = \"30ms\"\nremote_prefix = \"p\"\n"
          "[[remotes]]\nurl = \"redis://near\"\ndeadline = \"20ms\"\n"
          "[[remotes]]\nurl = \"redis://far\"\ncaches = \"autotune\"\nprefix = \"q\"\n");
  auto settings = at.resolved().value();
  CHECK(urls_of(settings) == std::vector<std::string>{"redis://near", "redis://far"});
  CHECK(settings.remote.deadline == milliseconds(20));
  CHECK(settings.remote.farther.front().deadline == milliseconds(30));
  CHECK(settings.remote.prefix == "p");
  CHECK(settings.remote.farther.front().prefix == "q");
  CHECK(settings.remote.farther.front().caches == std::vector<std::string>{"autotune"});
  at.variables["HEARTH_REMOTE_DEADLINE"] = "40ms";
  CHECK(at.resolved()->remote.deadline == milliseconds(40));
  at.given.remote = {{"remote_deadline", "50ms"}};
  settings = at.resolved().value();
  CHECK(settings.remote.deadline == milliseconds(50));
  CHECK(settings.remote.farther.front().deadline == milliseconds(50));
}

TEST_CASE("remote tiers: a mistake is told in one line that names its place") {
  places at;
  const auto problem = [&] { return at.resolved().error().text(); };
  SUBCASE("an option given twice for one tier") {
    at.given.remote = {
        {"remote", "redis://a"}, {"remote_mode", "read-only"}, {"remote_mode", "read-only"}};
    CHECK(problem().starts_with("--remote-mode: given twice for one --remote"));
  }
  SUBCASE("a wrong value of the second tier") {
    at.given.remote = {{"remote", "redis://a"}, {"remote", "ftp://b"}};
    CHECK(problem().starts_with("--remote: "));
  }
  SUBCASE("the same server twice") {
    at.variables["HEARTH_REMOTE"] = "redis://u:secret@a redis://a:6379";
    CHECK(problem() == "remote: redis://a:6379 with the prefix hearth is given twice");
  }
  SUBCASE("the same server with two prefixes is fine") {
    at.given.remote = {{"remote", "redis://a"}, {"remote", "redis://a"}, {"remote_prefix", "p"}};
    CHECK(at.resolved());
  }
  SUBCASE("keys for one of them") {
    at.given.remote = {
        {"remote", "redis://a"}, {"remote", "redis://b"}, {"remote_signing_keys", "/keys"}};
    CHECK(problem() == "remote_signing_keys: give it for every remote tier, or for none");
  }
  SUBCASE("too many") {
    for (int i = 0; i < 9; ++i)
      at.given.remote.emplace_back("remote", "redis://host" + std::to_string(i));
    CHECK(problem() == "remote: at most 8 remote tiers can be given, one behind the other");
  }
  SUBCASE("a table without a URL") {
    at.file("[[remotes]]\nmode = \"read-only\"\n");
    CHECK(problem().ends_with("hearth.toml:1: remotes: url is missing"));
  }
  SUBCASE("an unknown member of a table") {
    at.file("[[remotes]]\nurl = \"redis://a\"\nmood = 1\n");
    CHECK(problem().find("hearth.toml:3: remotes: mood: unknown member") != std::string::npos);
  }
  SUBCASE("no tables") {
    at.file("remotes = 3\n");
    CHECK(problem().ends_with("hearth.toml:1: remotes: tables are expected: [[remotes]]"));
    at.file("remotes = [3]\n");
    CHECK(problem().ends_with("remotes: a table is expected: [[remotes]]"));
  }
  SUBCASE("both forms") {
    at.file("remote = \"redis://a\"\n[[remotes]]\nurl = \"redis://b\"\n");
    CHECK(problem().ends_with("remotes: give 'remote' or [[remotes]], not both"));
  }
  SUBCASE("several for a server") {
    config of_server;
    at.given.remote = {{"remote", "redis://a"}, {"remote", "redis://b"}};
    CHECK(put_over(of_server, at.given).error().text() ==
          "--remote: a server has one upstream; give one --remote");
  }
}

TEST_CASE("sizes are read exactly or refused") {
  CHECK(parse_size("512").value() == 512);
  CHECK(parse_size("64KiB").value() == 64u << 10);
  CHECK(parse_size("1.5 GiB").value() == 3ull << 29);
  CHECK(parse_size("2MB").value() == 2'000'000);
  for (const auto* bad : {"", "GiB", "1.5", "1.5B", "1..5GiB", "-1", "1e3", "1 parsec", "0x10"})
    CHECK(parse_size(bad).error().code() == errc::malformed);
  CHECK(parse_size("99999999999999999999").error().code() == errc::overflow);
  CHECK(parse_size("18446744073709551615TiB").error().code() == errc::overflow);
}

TEST_CASE("the tag of tunings is the option's, the variable's, the file's or none") {
  places at;
  const auto tag = [&] {
    return tuning_tag(at.given,
                      [&](std::string_view name) {
                        const auto found = at.variables.find(name);
                        return found == at.variables.end() ? std::nullopt
                                                           : std::optional(found->second);
                      })
        .value();
  };
  CHECK(tag().empty());
  at.file("tuning_tag = \"file\"\n");
  CHECK(tag() == "file");
  at.variables["HEARTH_TUNING_TAG"] = "variable";
  CHECK(tag() == "variable");
  at.given.tuning_tag = "option";
  CHECK(tag() == "option");
}

TEST_CASE("details of keys are kept unless that is turned off") {
  places at;
  CHECK(at.resolved()->keep_key_details);
  at.file("keep_details = false\n");
  CHECK_FALSE(at.resolved()->keep_key_details);
  at.variables["HEARTH_KEEP_DETAILS"] = "yes";
  CHECK(at.resolved()->keep_key_details);
  at.given.keep_details = "no";
  CHECK_FALSE(at.resolved()->keep_key_details);
  at.given.keep_details = "maybe";
  CHECK(at.resolved().error().code() == errc::invalid_argument);
}

} // namespace settings_test
