// kill -9 in the middle of everything: what was acknowledged is there, in another process at once.
// HEARTH_CRASH_ROUNDS=N kills N writers instead of a few.
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"

#include <cstdlib>
#include <map>
#include <random>

using namespace hearth;
using namespace hearth::test;
using storage::write_kind;
using storage::write_status;

namespace {

int rounds() {
  const char* text = std::getenv("HEARTH_CRASH_ROUNDS");
  return text ? std::atoi(text) : 12;
}

// What a writer says before and after each change of a key.
struct message {
  int key;
  int version; // 0: erased
  bool done;
};

std::string value_of(int key, int version) {
  const auto bytes = (key * 37 + version * 101) % 3000 + (version % 23 == 7 ? 20000 : 0);
  return noise(static_cast<std::size_t>(bytes) + 1,
               static_cast<std::uint64_t>(key * 100003 + version));
}

storage::store_options crash_store(const std::filesystem::path& directory) {
  auto options = small_store(directory);
  options.segment_bytes = 64u << 10;
  options.budget_bytes = 64u << 20;
  return options;
}

int change_until_killed(const storage::store_options& options, int to, int first_version,
                        std::uint64_t seed) {
  auto store = open_store(options);
  std::mt19937_64 random(seed);
  for (int version = first_version;; ++version) {
    message said{static_cast<int>(random() % 60), random() % 6 == 0 ? 0 : version, false};
    if (::write(to, &said, sizeof said) != sizeof said) return 1;
    const auto key = "key" + std::to_string(said.key);
    if (said.version == 0)
      erase(*store, key);
    else if (put(*store, key, value_of(said.key, said.version)) != write_status::stored)
      return 2;
    said.done = true;
    if (::write(to, &said, sizeof said) != sizeof said) return 3;
  }
}

} // namespace

TEST_CASE("a writer killed anywhere leaves every acknowledged change and blocks nobody") {
  const temporary_directory directory;
  const auto options = crash_store(directory.path());
  auto watcher = open_store(options);
  std::map<int, int> state;
  std::mt19937_64 random(1);
  int version = 1;
  for (int round = 0; round < rounds(); ++round) {
    CAPTURE(round);
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    child_process child([&] {
      ::close(pipe_ends[0]);
      return change_until_killed(options, pipe_ends[1], version, random());
    });
    random();
    ::close(pipe_ends[1]);
    const auto wanted = 20 + random() % 150;
    message said{};
    message pending{-1, 0, true};
    for (std::uint64_t i = 0; ::read(pipe_ends[0], &said, sizeof said) == sizeof said; ++i) {
      version = std::max(version, said.version + 1);
      if (said.done) state[said.key] = said.version;
      pending = said;
      if (i == wanted) child.kill();
    }
    ::close(pipe_ends[0]);
    CHECK(child.wait() == -SIGKILL);
    for (const auto& [key, last] : state) {
      const auto text = text_of(*watcher, "key" + std::to_string(key));
      const auto want = last ? value_of(key, last) : "<miss>";
      const auto also = pending.version ? value_of(key, pending.version) : "<miss>";
      const bool right = text == want || (!pending.done && pending.key == key && text == also);
      REQUIRE(right);
      if (!pending.done && pending.key == key && text == also) state[key] = pending.version;
    }
    REQUIRE(insert(*watcher, "round" + std::to_string(round), "x") == write_status::inserted);
    // A change that was under way may have become whole with that write; from here on it stands.
    if (!pending.done) {
      const auto text = text_of(*watcher, "key" + std::to_string(pending.key));
      const auto also = pending.version ? value_of(pending.key, pending.version) : "<miss>";
      if (text == also) state[pending.key] = pending.version;
    }
  }
  CHECK(watcher->stats().corrupt == 0);
  CHECK(watcher->stats().rebuilds == 0);
  const auto report = watcher->verify(false);
  REQUIRE(report);
  CHECK(report->intact());
  CHECK(report->unindexed == 0);
  watcher.reset();
  // The index is what the records make it: a rebuild gives the same answers.
  std::filesystem::resize_file(directory / "v1/shards/00/head", 0);
  auto rebuilt = open_store(options);
  for (const auto& [key, last] : state)
    REQUIRE(text_of(*rebuilt, "key" + std::to_string(key)) ==
            (last ? value_of(key, last) : "<miss>"));
}

TEST_CASE("writers killed while they open and make a store leave one that can be used") {
  for (int round = 0; round < rounds(); ++round) {
    const temporary_directory directory;
    auto options = crash_store(directory / "store");
    options.shards = 4;
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    child_process child([&]() -> int {
      (void)!::write(pipe_ends[1], "x", 1);
      for (int i = 0;; ++i) {
        auto store = open_store(options);
        if (!store) return 1;
        insert(*store, "key" + std::to_string(i), "v");
      }
    });
    char ignored;
    REQUIRE(::read(pipe_ends[0], &ignored, 1) == 1);
    for (int spin = 0; spin < round * 2000; ++spin)
      ::getppid();
    child.kill();
    CHECK(child.wait() == -SIGKILL);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    auto store = open_store(options);
    REQUIRE(store);
    CHECK(insert(*store, "after", "x") == write_status::inserted);
    CHECK(text_of(*store, "after") == "x");
    CHECK(store->verify(false)->intact());
  }
}
