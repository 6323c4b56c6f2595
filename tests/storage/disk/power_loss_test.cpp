// Power is lost: what was flushed is there, what was not may be, nothing is served that was never
// written. HEARTH_POWER_ROUNDS=N runs N seeds instead of a few.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <cstdlib>
#include <map>
#include <random>
#include <set>

using namespace hearth;
using namespace hearth::test;
using storage::write_status;

namespace {

int rounds() {
  const char* text = std::getenv("HEARTH_POWER_ROUNDS");
  return text ? std::atoi(text) : 12;
}

} // namespace

TEST_CASE("after a power loss every key has a value that it had since the last flush") {
  for (int seed = 0; seed < rounds(); ++seed) {
    CAPTURE(seed);
    const temporary_directory directory;
    volatile_file_system files;
    auto options = small_store(directory / "store");
    options.segment_bytes = 64u << 10;
    options.budget_bytes = 16u << 20; // nothing is evicted
    options.files = &files;
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::map<std::string, std::set<std::string>> possible;
    auto store = open_store(options);
    std::map<std::string, std::string> now;
    const int steps = 60 + static_cast<int>(random() % 200);
    for (int step = 0; step < steps; ++step) {
      const auto key = "key" + std::to_string(random() % 40);
      const auto value =
          noise(random() % 10 == 0 ? 20000 + random() % 9000 : random() % 3000, random());
      switch (random() % 8) {
      case 0:
        erase(*store, key);
        now.erase(key);
        break;
      case 1:
        REQUIRE(store->flush());
        possible.clear();
        for (const auto& [name, text] : now)
          possible[name] = {text};
        continue;
      default: REQUIRE(put(*store, key, value) == write_status::stored); now[key] = value;
      }
      auto& values = possible[key];
      if (values.empty()) values.insert("<miss>");
      values.insert(now.contains(key) ? now[key] : "<miss>");
    }
    const auto after = directory / "after";
    files.lose_power(directory / "store", after, random());
    auto plain = options;
    plain.directory = after;
    plain.files = nullptr;
    auto lost = open_store(plain);
    REQUIRE(lost);
    for (int i = 0; i < 40; ++i) {
      const auto key = "key" + std::to_string(i);
      const auto found = possible.find(key);
      const auto text = text_of(*lost, key);
      if (found == possible.end())
        CHECK(text == "<miss>");
      else
        CHECK(found->second.contains(text));
    }
    CHECK(insert(*lost, "after", "x") == write_status::inserted);
    CHECK(lost->stats().corrupt == 0);
  }
}

TEST_CASE("a power loss right after clear brings nothing back") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const temporary_directory directory;
    volatile_file_system files;
    auto options = small_store(directory / "store");
    options.files = &files;
    auto store = open_store(options);
    for (int i = 0; i < 50; ++i)
      insert(*store, "key" + std::to_string(i), noise(500, seed));
    REQUIRE(store->flush());
    REQUIRE(store->clear());
    files.lose_power(directory / "store", directory / "after", seed);
    options.directory = directory / "after";
    options.files = nullptr;
    CHECK(keys_of(*open_store(options)).empty());
  }
}
