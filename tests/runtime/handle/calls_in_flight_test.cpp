// Deadlines and cancellation of a get and of an insert that have been sent.
#include "runtime/os/files/descriptor.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <stop_token>
#include <sys/file.h>

namespace calls_in_flight_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

// Another process that holds the locks of all shards: writes wait for it.
class held_shards {
public:
  explicit held_shards(const std::filesystem::path& store) {
    for (const auto& shard : std::filesystem::directory_iterator(store / "v1/shards")) {
      heads_.emplace_back(::open((shard.path() / "head").c_str(), O_RDWR | O_CLOEXEC));
      REQUIRE(heads_.back());
      REQUIRE(::flock(heads_.back().get(), LOCK_EX) == 0);
    }
    REQUIRE_FALSE(heads_.empty());
  }

private:
  std::vector<os::descriptor> heads_;
};

} // namespace

TEST_CASE(
    "a get that the remote tier does not answer ends at its deadline, or when it is cancelled") {
  local_redis redis;
  const temporary_directory directory;
  runtime rt(of_host(directory.path(), redis.url()));
  const auto entries = rt.open("c").value();
  REQUIRE_FALSE(entries.get("before")->hit()); // connected
  redis.freeze();
  const auto late = entries.get("k", call_options().within(20ms));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == errc::timeout);
  std::stop_source source;
  auto waiting = entries.get_async("k", call_options().stopped_by(source.get_token()));
  CHECK_FALSE(waiting.ready());
  source.request_stop();
  CHECK(waiting.get().error().code() == errc::cancelled);
  auto bounded = entries.get_async("another", call_options().within(20ms));
  CHECK(bounded.get().error().code() == errc::timeout);
  redis.thaw();
  CHECK(entries.get("after"));
}

TEST_CASE_FIXTURE(on_disk, "an insert that waits for the disk ends at its deadline, or when it is "
                           "cancelled, and may be stored all the same") {
  runtime rt(settings());
  const auto entries = rt.open("c").value();
  REQUIRE(entries.insert("before", artifact::make("x")));
  std::stop_source source;
  {
    const held_shards other(directory / "store");
    const auto late = entries.insert("timed", artifact::make("first"), call_options().within(20ms));
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == errc::timeout);
    auto waiting = entries.insert_async("stopped", artifact::make("first"),
                                        call_options().stopped_by(source.get_token()));
    CHECK_FALSE(waiting.ready());
    source.request_stop();
    CHECK(waiting.get().error().code() == errc::cancelled);
    const auto put = entries.put("put", artifact::make("first"), call_options().within(20ms));
    CHECK(put.error().code() == errc::timeout);
  }
  for (const auto* key : {"timed", "stopped"}) {
    CHECK(*entries.insert(key, artifact::make("second")) == insert_outcome::exists);
    CHECK(entries.get(key)->value.payload() == "first");
  }
  CHECK(entries.get("put")->value.payload() == "first");
}

} // namespace calls_in_flight_test
