#include "runtime/caches/kernels/kernel_cache.hpp"

#include "runtime/handle/runtime.hpp"
#include "tests/support/runtimes.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

namespace kernel_cache_test {

using namespace hearth;
using namespace hearth::test;
namespace {

const std::string graph = "graph(%x : Float(2)):\n  %y : Float(2) = aten::relu(%x)\n  return (%y)";
const std::string renamed = "graph(%a : Half(7)):\n  %b : Half(7) = aten::relu(%a)\n  return (%b)";

} // namespace

TEST_CASE_FIXTURE(on_disk, "a stored kernel is found by the next runtime and its number is new") {
  {
    runtime rt(settings());
    const auto kernels = kernel_cache::open(rt, {.max_kernels = 0, .kept_in = "fuser"});
    REQUIRE(kernels);
    CHECK(kernels->find(graph)->id == -1);
    CHECK(*kernels->save("graph(%x): return (%x)", artifact::make("identity")) == 0);
    CHECK(*kernels->save(graph, artifact::make("relu")) == 1);
    CHECK(kernels->get(1)->value.payload() == "relu");
  }
  runtime rt(settings());
  const auto kernels = kernel_cache::open(rt, {.max_kernels = 0, .kept_in = "fuser"});
  REQUIRE(kernels);
  CHECK(*kernels->count() == 0);
  const auto found = kernels->find(renamed);
  REQUIRE(found);
  CHECK(found->id == 0);
  CHECK(found->spec.payload() == "relu");
}

TEST_CASE_FIXTURE(on_disk, "threads that save kernels at once each get a number of their own") {
  runtime rt(settings());
  const auto kernels = kernel_cache::open(rt);
  REQUIRE(kernels);
  std::vector<std::thread> threads;
  std::vector<std::int64_t> ids(8, -1);
  for (auto& id : ids)
    threads.emplace_back([&] { id = kernels->save(graph, artifact::make("k")).value_or(-1); });
  for (auto& thread : threads)
    thread.join();
  std::sort(ids.begin(), ids.end());
  CHECK(ids == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(kernels->find(graph)->id == 0);
}

TEST_CASE_FIXTURE(on_disk, "after the runtime's end a kernel cache answers closed") {
  runtime rt(settings());
  const auto kernels = kernel_cache::open(rt);
  REQUIRE(kernels);
  rt.shutdown();
  CHECK(kernels->find(graph).error().code() == errc::closed);
  CHECK(kernels->save(graph, artifact::make("k")).error().code() == errc::closed);
  CHECK(kernel_cache::open(rt).error().code() == errc::closed);
}

} // namespace kernel_cache_test
