// `hearth erase --remote`: what it says, and what other hosts find afterwards.
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <memory>

namespace purge_test {

using namespace hearth::test;

namespace {

struct hosts {
  hosts() { write_text(directory / "file", "poison"); }
  program_result on(const std::string& host, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", (directory / host).string(), "--remote",
                                       redis.url(), "--remote-deadline", "10s"});
    return run_hearth(std::move(arguments), directory.path());
  }
  program_result insert(const std::string& host) const {
    return on(host, {"insert", "k", (directory / "file").string()});
  }

  temporary_directory directory;
  local_redis redis;
};

} // namespace

TEST_CASE_FIXTURE(hosts, "an erase reaches the remote and the stores of other hosts, and says so") {
  CHECK(insert("a").out == "inserted\n");
  for (const auto* host : {"b", "c"})
    CHECK(on(host, {"get", "k"}).out == "poison");
  const auto erased = on("a", {"erase", "k"});
  CHECK(erased.status == 0);
  CHECK(erased.out == "erased, and the remote was told\n");
  for (const auto* host : {"a", "b", "c"})
    CHECK(on(host, {"get", "k"}).status == 1);
  CHECK(insert("b").out == "inserted\n");
  for (const auto* host : {"a", "b", "c", "d"})
    CHECK(on(host, {"get", "k"}).out == "poison");
  // A host without a copy can erase for all others.
  const auto absent = on("e", {"erase", "k"});
  CHECK(absent.status == 1);
  CHECK(absent.out == "absent, and the remote was told\n");
  for (const auto* host : {"a", "b", "c", "d", "e"})
    CHECK(on(host, {"get", "k"}).status == 1);
}

TEST_CASE_FIXTURE(hosts, "a remote that cannot be used changes nothing here, and is told") {
  CHECK(insert("a").out == "inserted\n");
  const auto file = (directory / "file").string(), none = (directory / "none").string();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"put", "k", file}, {"insert", "l", file}, {"erase", "k"}}) {
    auto all = words;
    all.insert(all.end(), {"--remote-signing-keys", none});
    const auto refused = on("a", all);
    CHECK(refused.status == 2);
    CHECK(refused.out == "");
    CHECK_MESSAGE(refused.err.starts_with("hearth: cannot open " + none), refused.err);
  }
  CHECK(on("a", {"get", "l"}).status == 1);
  const auto got = on("a", {"get", "k", "--remote-signing-keys", none});
  CHECK(got.out == "poison");
  CHECK(got.err.starts_with("hearth: going on without a remote tier: cannot open " + none));
}

TEST_CASE_FIXTURE(hosts, "an erase that the remote has not heard of says so") {
  CHECK(insert("a").out == "inserted\n");
  redis.kill();
  const auto erased = on("a", {"erase", "k"});
  CHECK(erased.status == 0);
  CHECK(erased.out == "erased here; the remote has not heard yet\n");
  CHECK(erased.err.find("the remote has not heard yet") != std::string::npos);
  CHECK(on("a", {"get", "k"}).status == 1);
  redis.start();
  CHECK(insert("a").out == "inserted\n");
  const auto told = on("a", {"erase", "k", "--json"}).out;
  CHECK(told.find("\"status\":\"erased\"") != std::string::npos);
  CHECK(told.find("\"remote\":\"told\"") != std::string::npos);
  redis.kill();
  const auto not_told = on("a", {"erase", "k", "--json"}).out;
  CHECK(not_told.find("\"status\":\"absent\"") != std::string::npos);
  CHECK(not_told.find("\"remote\":\"not_told\"") != std::string::npos);
}

TEST_CASE("an erase while the remote is away reaches it, and the other hosts, by a later run") {
  struct remembering : hosts {
    remembering() {
      redis.kill();
      redis_setup setup;
      setup.arguments = {"--appendonly", "yes"};
      lasting = std::make_unique<local_redis>(setup);
    }
    program_result on(const std::string& host, std::vector<std::string> arguments) const {
      arguments.insert(arguments.end(), {"--store", (directory / host).string(), "--remote",
                                         lasting->url(), "--remote-deadline", "10s"});
      return run_hearth(std::move(arguments), directory.path());
    }
    std::unique_ptr<local_redis> lasting;
  };
  remembering fleet;
  const auto file = (fleet.directory / "file").string();
  CHECK(fleet.on("a", {"insert", "k", file}).out == "inserted\n");
  CHECK(fleet.on("b", {"get", "k"}).out == "poison");
  fleet.lasting->kill();
  CHECK(fleet.on("a", {"erase", "k"}).out == "erased here; the remote has not heard yet\n");
  fleet.lasting->start();
  CHECK(fleet.on("c", {"get", "k"}).out == "poison"); // nobody has told it
  CHECK(fleet.on("a", {"get", "k"}).status == 1);
  for (const auto* host : {"a", "b", "c", "d"})
    CHECK(fleet.on(host, {"get", "k"}).status == 1);
}

} // namespace purge_test
