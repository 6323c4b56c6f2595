#include "messages/artifact.hpp"

#include <doctest/doctest.h>

namespace artifact_test {

using namespace hearth;

TEST_CASE("an artifact keeps payload and metadata while a reference exists") {
  artifact copy;
  {
    const auto made = artifact::make("payload", value::map{{"time_taken_ns", 12}});
    copy = made;
    CHECK(copy.body() == made.body());
  }
  CHECK(copy.payload() == "payload");
  const auto metadata = copy.metadata();
  REQUIRE(metadata);
  CHECK(metadata->at("time_taken_ns") == value{12});
  CHECK_FALSE(artifact{});
}

TEST_CASE("an artifact held by a hazard slot clears it and a copy counts") {
  const auto owner = artifact::make("x");
  artifact::hazard_slot slot{owner.body()};
  artifact copy;
  {
    const auto held = artifact::protect(owner.body(), &slot);
    copy = held;
    CHECK(slot.load() != nullptr);
  }
  CHECK(slot.load() == nullptr);
  CHECK(copy.payload() == "x");
}

TEST_CASE("the time of an artifact is a member of its metadata that nothing replaces") {
  using namespace std::chrono_literals;
  const auto plain = artifact::make("x");
  CHECK(time_taken(plain) == 0ns);
  CHECK(time_taken(artifact{}) == 0ns);
  const auto timed = with_time_taken(plain, 5ns);
  CHECK(time_taken(timed) == 5ns);
  CHECK(timed.payload() == "x");
  CHECK(with_time_taken(timed, 7ns).body() == timed.body());
  const auto guarded = with_time_taken(artifact::make("x", value::map{{"guard", "True"}}), 5ns);
  CHECK(guarded.metadata() == value::map{{"guard", "True"}, {"time_taken_ns", 5}});
  const auto no_map = artifact::make("x", "\xc0");
  CHECK(with_time_taken(no_map, 5ns).body() == no_map.body());
  CHECK(time_taken(no_map) == 0ns);
  CHECK(time_taken(artifact::make("x", value::map{{"time_taken_ns", "long"}})) == 0ns);
  CHECK(time_taken(artifact::make("x", value::map{{"time_taken_ns", -1}})) == 0ns);
}

TEST_CASE("the time taken is found alone and beside other members") {
  using namespace std::chrono_literals;
  const auto bare = artifact::make("code");
  CHECK(time_taken(bare) == 0ns);
  for (const auto time : {0ns, 1ns, 127ns, 128ns, 70'000ns, 5'000'000'000ns}) {
    CHECK(time_taken(with_time_taken(bare, time)) == time);
    const auto other = artifact::make("code", value::map{{"guard", "True"}, {"zone", 1}});
    CHECK(time_taken(with_time_taken(other, time)) == time);
  }
  CHECK(time_taken(artifact::make("code", value::map{{"time_taken_ns", -7}})) == 0ns);
  CHECK(time_taken(artifact::make("code", value::map{{"time_taken_ns", "long"}})) == 0ns);
  CHECK(time_taken(artifact::make("code", "\x81\xad"
                                          "time_taken_ns")) == 0ns);
}

} // namespace artifact_test
