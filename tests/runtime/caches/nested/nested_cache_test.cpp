// Trees of values by path.
#include "runtime/caches/nested/nested_cache.hpp"

#include "runtime/caches/kernels/kernel_cache.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/runtimes.hpp"

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

namespace nested_cache_test {

using namespace hearth;
using namespace hearth::test;
namespace {

nested_cache tree_in(runtime& rt, const char* root = "system") {
  return nested_cache::open(rt, "tuning", key(root)).value();
}

} // namespace

TEST_CASE_FIXTURE(on_disk, "a value set at a path is found there, and in the maps above") {
  runtime rt(settings());
  const auto tree = tree_in(rt);
  CHECK_FALSE(*tree.lookup({"gemm"}));
  REQUIRE(tree.set({"gemm", "64x64", "tf32"}, 1.5));
  REQUIRE(tree.set({"gemm", "64x64", "fp32"}, 2.5));
  CHECK(**tree.lookup({"gemm", "64x64", "tf32"}) == value(1.5));
  CHECK(**tree.lookup({"gemm", "64x64"}) == value(value::map{{"tf32", 1.5}, {"fp32", 2.5}}));
  CHECK_FALSE(*tree.lookup({"gemm", "64x64", "bf16"}));
  REQUIRE(tree.set({"gemm", "64x64", "tf32"}, 1.25));
  CHECK(**tree.lookup({"gemm", "64x64", "tf32"}) == value(1.25));
  CHECK(tree.set({"gemm", "64x64", "tf32", "deeper"}, 1).error().code() == errc::invalid_argument);
  CHECK(*tree.to_json() == "{\n  \"gemm\": {\n    \"64x64\": {\n      \"fp32\": 2.5,\n      "
                           "\"tf32\": 1.25\n    }\n  }\n}");
  CHECK(*tree_in(rt, "another system").to_json() == "{}");
}

TEST_CASE("the actor of an open nested or kernel cache ends with its last handle") {
  caf::actor_system_config settings;
  add_message_types(settings);
  caf::actor_system host(settings);
  runtime rt(in_memory(), host);
  const auto before = host.registry().running();
  for (int i = 0; i < 20; ++i) {
    const auto tree = tree_in(rt);
    const auto copy = tree;
    const auto kernels = kernel_cache::open(rt, {}).value();
    CHECK(copy.set({"a"}, i));
    CHECK(**tree.lookup({"a"}) == value(i));
    CHECK(*kernels.count() == 0);
    CHECK(host.registry().running() > before);
  }
  CHECK(goes_down_to(host, before));
}

TEST_CASE_FIXTURE(on_disk, "values set at once by threads and processes are all there") {
  constexpr int writers = 4, each = 12;
  {
    runtime one(settings()), two(settings()); // two processes from the store's point of view
    std::vector<std::thread> threads;
    for (int writer = 0; writer < writers; ++writer)
      threads.emplace_back([&, writer] {
        const auto tree = tree_in(writer % 2 == 0 ? one : two);
        for (int i = 0; i < each; ++i)
          CHECK(tree.set({"op", std::to_string(writer), std::to_string(i)}, i));
      });
    for (auto& thread : threads)
      thread.join();
  }
  runtime later(settings());
  const auto tree = tree_in(later);
  for (int writer = 0; writer < writers; ++writer)
    for (int i = 0; i < each; ++i) {
      const auto found = tree.lookup({"op", std::to_string(writer), std::to_string(i)});
      REQUIRE(found);
      REQUIRE(*found);
      CHECK(**found == value(i));
    }
}

TEST_CASE_FIXTURE(on_disk, "after shutdown a call is a closed error") {
  runtime rt(settings());
  const auto tree = tree_in(rt);
  REQUIRE(tree.set({"a"}, 1));
  rt.shutdown();
  CHECK(tree.lookup({"a"}).error().code() == errc::closed);
  CHECK(tree.set({"a"}, 2).error().code() == errc::closed);
}

} // namespace nested_cache_test
