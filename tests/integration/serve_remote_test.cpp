// `hearth serve` as the remote tier of hosts with stores of their own: what `hearth erase` says,
// and what the others find.
#include "tests/support/files.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace serve_remote_test {

using namespace hearth::test;

namespace {

struct fleet {
  fleet()
      : server({"--listen", "resp=unix:" + socket()}) {}
  std::string socket() const { return (directory / "redis.sock").string(); }
  std::string url() const { return "hearth+unix://" + socket(); }
  std::string store_of(const std::string& host) const { return (directory / host).string(); }
  program_result on(const std::string& host, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(),
                     {"--store", store_of(host), "--remote", url(), "--remote-deadline", "10s"});
    return run_hearth(std::move(arguments), directory.path());
  }

  temporary_directory directory;
  running_server server;
};

} // namespace

TEST_CASE_FIXTURE(fleet, "serve: an erase reaches the other hosts, also over a kill") {
  write_text(directory / "file", "poison");
  const auto insert = [&](const std::string& host) {
    return on(host, {"insert", "k", (directory / "file").string()}).out;
  };
  CHECK(insert("a") == "inserted\n");
  for (const auto* host : {"b", "c"})
    CHECK(on(host, {"get", "k"}).out == "poison");
  const auto erased = on("a", {"erase", "k"});
  CHECK(erased.out == "erased, and the remote was told\n");
  CHECK(on("b", {"get", "k"}).status == 1);
  server.kill();
  CHECK(on("d", {"erase", "l"}).out == "absent here; the remote has not heard yet\n");
  server.start();
  CHECK(on("c", {"get", "k"}).status == 1);
  CHECK(insert("b") == "inserted\n");
  for (const auto* host : {"a", "c", "d"})
    CHECK(on(host, {"get", "k"}).out == "poison");
}

} // namespace serve_remote_test
