#include "runtime/cli/remote_pause.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace remote_pause_test {

using namespace hearth;
using namespace std::chrono_literals;
using cli::remote_pause;

namespace {

struct host {
  test::temporary_directory directory;
  config settings;
  remote_pause::time now{std::chrono::hours(24 * 365 * 50)};

  host() {
    settings.store = directory.path();
    settings.remote.url = "redis://one";
  }
};

} // namespace

TEST_CASE_FIXTURE(host, "remote pause: one wait for all processes, and one of them tries again") {
  remote_pause first(settings), second(settings);
  CHECK(first.may_ask(now));
  CHECK(second.may_ask(now)); // both ask at once, and both wait
  first.tell(false, now);
  second.tell(false, now + 1s);
  remote_pause third(settings), fourth(settings);
  CHECK_FALSE(third.may_ask(now + 9s));
  CHECK(third.may_ask(now + 10s)); // the second one did not make the pause longer
  CHECK_FALSE(fourth.may_ask(now + 10s));
  third.tell(false, now + 11s);
  CHECK_FALSE(fourth.may_ask(now + 30s)); // twice as long
  CHECK(fourth.may_ask(now + 31s));
  fourth.tell(true, now + 31s);
  CHECK(remote_pause(settings).may_ask(now + 31s));
  CHECK(remote_pause(settings).may_ask(now + 31s));
}

TEST_CASE_FIXTURE(host, "remote pause: a process that tries and is killed costs one more pause") {
  remote_pause(settings).tell(false, now);
  CHECK(remote_pause(settings).may_ask(now + 10s));
  CHECK_FALSE(remote_pause(settings).may_ask(now + 19s));
  CHECK(remote_pause(settings).may_ask(now + 20s));
}

TEST_CASE_FIXTURE(host, "remote pause: it has a longest time") {
  for (int i = 0; i < 20; ++i) {
    remote_pause one(settings);
    CHECK(one.may_ask(now));
    one.tell(false, now);
    CHECK_FALSE(remote_pause(settings).may_ask(now));
    now += 60s;
  }
}

TEST_CASE_FIXTURE(host, "remote pause: another server, another clock, another file") {
  remote_pause(settings).tell(false, now);
  auto other = settings;
  other.remote.url = "redis://two";
  CHECK(remote_pause(other).may_ask(now));
  remote_pause(other).tell(true, now);
  CHECK_FALSE(remote_pause(settings).may_ask(now));
  CHECK(remote_pause(settings).may_ask(now - 1h)); // the clock was set back
  test::write_text(directory / "remote.pause", std::string(4096, 'x'));
  CHECK(remote_pause(settings).may_ask(now));
  remote_pause(settings).tell(false, now);
  CHECK(remote_pause(settings).may_ask(now));
  auto nowhere = settings;
  nowhere.store = directory / "none";
  remote_pause(nowhere).tell(false, now);
  CHECK(remote_pause(nowhere).may_ask(now));
}

TEST_CASE_FIXTURE(host, "remote pause: a paused remote tier is left out") {
  auto asked = settings;
  CHECK(cli::pause_remotes(asked).size() == 1);
  CHECK(asked.remote.url == "redis://one");
  remote_pause(settings).tell(false, std::chrono::system_clock::now());
  CHECK(cli::pause_remotes(asked).empty());
  CHECK(asked.remote.url.empty());
}

TEST_CASE_FIXTURE(host,
                  "remote pause: of several remote tiers those that are paused are left out") {
  settings.remote.farther.push_back(settings.remote);
  settings.remote.farther.front().url = "redis://two";
  settings.remote.farther.push_back(settings.remote.farther.front());
  settings.remote.farther.back().url = "redis://three";
  const auto now_here = std::chrono::system_clock::now();
  remote_pause(settings, 1).tell(false, now_here);
  auto asked = settings;
  const auto left = cli::pause_remotes(asked);
  REQUIRE(left.size() == 2);
  CHECK(left[0].name() == "redis://one:6379");
  CHECK(left[1].name() == "redis://three:6379");
  CHECK(asked.remote.url == "redis://one");
  REQUIRE(asked.remote.farther.size() == 1);
  CHECK(asked.remote.farther.front().url == "redis://three");
  remote_pause(settings).tell(false, now_here);
  asked = settings;
  CHECK(cli::pause_remotes(asked).size() == 1);
  CHECK(asked.remote.url == "redis://three");
  CHECK(asked.remote.farther.empty());
}

} // namespace remote_pause_test
