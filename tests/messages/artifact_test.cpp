#include "messages/artifact.hpp"

#include <doctest/doctest.h>

using namespace hearth;

TEST_CASE("an artifact keeps payload and metadata while somebody holds it") {
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
