// `hearth` with several `--remote`: the order of options, what reports say of each tier, and hosts
// that know only one of the servers.
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace remotes_test {

using namespace hearth::test;

namespace {

struct hosts {
  hosts() { write_text(directory / "file", "bytes"); }
  program_result on(const std::string& host, std::vector<std::string> arguments,
                    const std::vector<std::string>& remotes) const {
    arguments.insert(arguments.end(),
                     {"--store", (directory / host).string(), "--remote-deadline", "10s"});
    arguments.insert(arguments.end(), remotes.begin(), remotes.end());
    return run_hearth(std::move(arguments), directory.path());
  }

  temporary_directory directory;
  local_redis near, far;
  const std::vector<std::string> both{"--remote", near.url(), "--remote", far.url()};
  const std::vector<std::string> only_near{"--remote", near.url()};
  const std::vector<std::string> only_far{"--remote", far.url()};
};

} // namespace

TEST_CASE_FIXTURE(hosts,
                  "several remotes: what one host inserts and erases reaches those of each") {
  const auto file = (directory / "file").string();
  CHECK(on("a", {"insert", "k", file}, both).out == "inserted\n");
  CHECK(on("b", {"get", "k"}, only_near).out == "bytes");
  CHECK(on("c", {"get", "k"}, only_far).out == "bytes");
  const auto erased = on("a", {"erase", "k"}, both);
  CHECK(erased.out == "erased, and the remote was told\n");
  CHECK(on("b", {"get", "k"}, only_near).status == 1);
  CHECK(on("c", {"get", "k"}, only_far).status == 1);
}

TEST_CASE_FIXTURE(hosts, "several remotes: an option belongs to the --remote before it") {
  const auto file = (directory / "file").string();
  auto remotes = both;
  remotes.insert(remotes.end(), {"--remote-mode", "read-only"});
  CHECK(on("a", {"insert", "k", file}, remotes).out == "inserted\n");
  CHECK(on("b", {"get", "k"}, only_near).out == "bytes");
  CHECK(on("c", {"get", "k"}, only_far).status == 1);
  remotes.insert(remotes.end(), {"--remote-mode", "read-only"});
  const auto twice = on("a", {"get", "k"}, remotes);
  CHECK(twice.status == 2);
  CHECK(twice.err.find("--remote-mode: given twice for one --remote") != std::string::npos);
}

TEST_CASE_FIXTURE(hosts, "several remotes: stats asks each server and names it") {
  CHECK(on("a", {"insert", "k", (directory / "file").string()}, both).out == "inserted\n");
  far.kill();
  const auto told = on("a", {"stats", "--json"}, both).json();
  const auto& all = told.at("remotes");
  REQUIRE(all.size() == 2);
  CHECK(all[0].at("url") == near.url());
  CHECK(all[0].at("state") == "closed");
  CHECK(all[1].at("url") == far.url());
  CHECK(all[1].at("state") == "open");
  CHECK(told.at("remote") == all[0]);
}

} // namespace remotes_test
