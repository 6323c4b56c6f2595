#include "runtime/plain/plain_store.hpp"

#include "tests/support/runtimes.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace plain_store_test {

using namespace hearth;
using namespace hearth::test;
using namespace std::chrono_literals;

namespace {

const cache_id kernels = cache_id::make("kernels", "1").value();

struct in_folder {
  temporary_directory directory;
  plain_store store = plain_store::open(directory.path() / "store").value();
};

} // namespace

TEST_CASE_FIXTURE(in_folder, "a plain store makes its folder with the first write, not before") {
  CHECK_FALSE(store.get(kernels, "k")->hit());
  CHECK_FALSE(store.erase(kernels, "k").value());
  CHECK_FALSE(std::filesystem::exists(directory.path() / "store"));
  CHECK(store.insert(kernels, "k", artifact::make("v")) == insert_outcome::inserted);
  CHECK(store.insert(kernels, "k", artifact::make("w")) == insert_outcome::exists);
  CHECK(store.get(kernels, "k")->value.payload() == "v");
  CHECK(store.get(kernels, "k")->from == tier::disk);
  CHECK(store.put(kernels, "k", artifact::make("w")));
  CHECK(store.get(kernels, "k")->value.payload() == "w");
  CHECK(store.erase(kernels, "k").value());
  CHECK_FALSE(store.get(kernels, "k")->hit());
  CHECK(store.flush());
  CHECK(plain_store::open("").error().code() == errc::invalid_argument);
  CHECK(store.insert(kernels, "k", {}).error().code() == errc::invalid_value);
  CHECK(store.get(kernels, std::string(70'000, 'k')).error().code() == errc::invalid_key);
}

TEST_CASE_FIXTURE(on_disk, "a plain store and a runtime share their entries and their leases") {
  runtime rt(settings());
  const auto cache = rt.open("kernels", cache_options().with_version("1")).value();
  const auto store = plain_store::open(settings().store).value();
  REQUIRE(cache.insert("a", artifact::make("of the runtime")));
  CHECK(store.get(kernels, "a")->value.payload() == "of the runtime");
  REQUIRE(store.insert(kernels, "b", artifact::make("of the store")));
  CHECK(cache.get("b")->value.payload() == "of the store");
  auto held = store.acquire(kernels, "c").value();
  REQUIRE(held.held);
  auto waits = cache.get_or_compile_async("c", [] { return artifact::make("never"); });
  while (rt.stats().leases_waiting + rt.stats().leases_held == 0)
    std::this_thread::yield();
  CHECK_FALSE(waits.ready());
  REQUIRE(store.insert(kernels, "c", artifact::make("made")));
  held.held = nullptr;
  CHECK(waits.get()->payload() == "made");
}

TEST_CASE_FIXTURE(in_folder, "a plain store gives the lease to one, in this process and others") {
  auto first = store.acquire(kernels, "k").value();
  REQUIRE(first.held);
  first.held->beat();
  const auto impatient = call_options().within(3ms);
  CHECK(store.acquire(kernels, "k", impatient).error().code() == errc::timeout);
  const auto other = plain_store::open(directory.path() / "store").value();
  CHECK(other.acquire(kernels, "k", impatient).error().code() == errc::timeout);
  std::stop_source stopped;
  stopped.request_stop();
  CHECK(
      other.acquire(kernels, "k", call_options().stopped_by(stopped.get_token())).error().code() ==
      errc::cancelled);
  first.held = nullptr;
  CHECK(other.acquire(kernels, "k")->held);
}

TEST_CASE_FIXTURE(in_folder, "the child of a fork has the entries, and not its parent's lease") {
  REQUIRE(store.insert(kernels, "k", artifact::make("v")));
  auto held = store.acquire(kernels, "made").value();
  std::atomic<bool> ends{false};
  // A thread that reads all the time: the child does not have it, nor wait for its lock.
  std::thread reader([&] {
    while (!ends)
      (void)store.get(kernels, "k");
  });
  const auto child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool good = store.get(kernels, "k")->value.payload() == "v";
    good = good && store.insert(kernels, "child", artifact::make("c")).has_value();
    good = good && store.acquire(kernels, "made", call_options().within(1ms)).error().code() ==
                       errc::timeout;
    held.held = nullptr; // of the parent: nothing is released
    good = good && store.acquire(kernels, "made", call_options().within(1ms)).error().code() ==
                       errc::timeout;
    _exit(good ? 0 : 1);
  }
  ends = true;
  reader.join();
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(store.get(kernels, "child")->value.payload() == "c");
}

} // namespace plain_store_test
