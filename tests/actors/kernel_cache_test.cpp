#include "actors/kernel_cache.hpp"

#include "tests/support/tiers.hpp"

namespace kernel_cache_test {

using namespace hearth;
using namespace hearth::test;

namespace {

const std::string add_graph = "graph(%x : Float(2, 3), %y : Float(2, 3)):\n"
                              "  %z : Float(2, 3) = aten::add(%x, %y) # a.py:1:2\n"
                              "  return (%z)\n";
const std::string same_add = "graph(%a : Half(7, device=cuda:0), %b : Tensor):\n"
                             "  %sum : Half(7) = aten::add(%a, %b)\n"
                             "  return (%sum)\n";
const std::string mul_graph = "graph(%x, %y):\n  %z = aten::mul(%x, %y)\n  return (%z)\n";

struct found_kernel {
  std::int64_t id = -2;
  std::string spec; // "<miss>" for a miss
};

struct fixture : deterministic {
  temporary_directory directory;
  tiers one{*this, directory.path()};
  kernel_cache_actor kernels = spawn({});

  kernel_cache_actor spawn(actors::kernel_cache_config how) {
    return keep(system.spawn(actors::kernel_cache, std::move(how)));
  }
  actors::kernel_cache_config kept() {
    return {.max_kernels = 0, .kept_in = key_in("fuser", "x").cache, .shards = one.router};
  }
  std::int64_t save(const std::string& graph, const std::string& spec) {
    return ask<std::int64_t>(kernels, verb::save_v, graph, artifact::make(spec)).value();
  }
  std::string get(std::int64_t id) {
    const auto found = ask<lookup>(kernels, verb::get_v, id).value();
    return found.hit() ? std::string(found.value.payload()) : "<miss>";
  }
  found_kernel find(const std::string& graph) {
    found_kernel result;
    auto pending = self->request(kernels, caf::infinite, verb::find_v, graph);
    scheduler.run();
    pending.receive(
        [&](std::int64_t id, const lookup& found) {
          result = {id, found.hit() ? std::string(found.value.payload()) : "<miss>"};
        },
        [&](const caf::error& why) { result.spec = from_caf(why).text(); });
    return result;
  }
  std::uint64_t count() { return ask<std::uint64_t>(kernels, verb::count_v).value(); }
};

} // namespace

TEST_CASE_FIXTURE(fixture, "kernels are numbered from zero and found by number") {
  CHECK(count() == 0);
  CHECK(get(0) == "<miss>");
  CHECK(save(add_graph, "add kernel") == 0);
  CHECK(save(mul_graph, "mul kernel") == 1);
  CHECK(get(0) == "add kernel");
  CHECK(get(1) == "mul kernel");
  CHECK(get(2) == "<miss>");
  CHECK(get(-1) == "<miss>");
  CHECK(count() == 2);
}

TEST_CASE_FIXTURE(fixture, "a graph is found with any names and tensor types") {
  CHECK(find(add_graph).id == -1);
  CHECK(find(add_graph).spec == "<miss>");
  save(add_graph, "add kernel");
  CHECK(find(same_add).id == 0);
  CHECK(find(same_add).spec == "add kernel");
  CHECK(find(mul_graph).id == -1);
}

TEST_CASE_FIXTURE(fixture,
                  "a second kernel of a graph has its own number and the graph its first") {
  CHECK(save(add_graph, "first") == 0);
  CHECK(save(same_add, "second") == 1);
  CHECK(find(add_graph).id == 0);
  CHECK(find(add_graph).spec == "first");
  CHECK(get(1) == "second");
  CHECK(count() == 2);
}

TEST_CASE_FIXTURE(fixture,
                  "a text that is no graph is an error with its place and changes nothing") {
  const auto saved = ask<std::int64_t>(
      kernels, verb::save_v, std::string("graph(%x:\n  return (%y)"), artifact::make("spec"));
  REQUIRE_FALSE(saved);
  CHECK(saved.error().code() == errc::malformed);
  CHECK(saved.error().text().find("line 2") != std::string::npos);
  CHECK(find("no graph").spec.find("line 1") != std::string::npos);
  CHECK(count() == 0);
  CHECK(save(add_graph, "add kernel") == 0);
}

TEST_CASE_FIXTURE(fixture, "a bound drops the oldest kernel and its graph") {
  kernels = spawn({.max_kernels = 2, .kept_in = {}, .shards = {}});
  save(add_graph, "add kernel");
  save(mul_graph, "mul kernel");
  save(mul_graph, "mul kernel again");
  CHECK(count() == 2);
  CHECK(get(0) == "<miss>");
  CHECK(find(add_graph).id == -1);
  CHECK(find(mul_graph).id == 1);
  CHECK(save(add_graph, "add kernel") == 3);
  CHECK(find(mul_graph).id == -1);
  CHECK(get(2) == "mul kernel again");
}

TEST_CASE_FIXTURE(fixture, "stored kernels are found after a restart and by another process") {
  kernels = spawn(kept());
  CHECK(save(add_graph, "add kernel") == 0);
  kernels = spawn(kept());
  CHECK(count() == 0);
  CHECK(find(same_add).id == 0);
  CHECK(find(same_add).spec == "add kernel");
  CHECK(get(0) == "add kernel");
  CHECK(count() == 1);

  tiers other(*this, directory.path());
  auto elsewhere = kept();
  elsewhere.shards = other.router;
  kernels = spawn(elsewhere);
  CHECK(find(add_graph).spec == "add kernel");
}

TEST_CASE_FIXTURE(fixture, "two lookups of a stored kernel at once get one number") {
  kernels = spawn(kept());
  save(add_graph, "add kernel");
  kernels = spawn(kept());
  std::vector<std::int64_t> ids;
  auto first = self->request(kernels, caf::infinite, verb::find_v, add_graph);
  auto second = self->request(kernels, caf::infinite, verb::find_v, same_add);
  scheduler.run();
  const auto note = [&](std::int64_t id, const lookup& found) {
    CHECK(found.hit());
    ids.push_back(id);
  };
  first.receive(note, [](const caf::error&) {});
  second.receive(note, [](const caf::error&) {});
  CHECK(ids == std::vector<std::int64_t>{0, 0});
  CHECK(count() == 1);
}

TEST_CASE_FIXTURE(fixture, "a request to a kernel cache that ends meanwhile gets closed") {
  kernels = spawn(kept());
  auto found = self->request(kernels, caf::infinite, verb::find_v, add_graph);
  auto saved = self->request(kernels, caf::infinite, verb::save_v, mul_graph, artifact::make("k"));
  scheduler.try_run_once(); // both wait for the disk now
  caf::anon_send_exit(kernels, caf::exit_reason::user_shutdown);
  scheduler.run();
  std::vector<errc> said;
  const auto note = [&](const caf::error& why) { said.push_back(from_caf(why).code()); };
  found.receive([](std::int64_t, const lookup&) {}, note);
  saved.receive([](std::int64_t) {}, note);
  CHECK(said == std::vector<errc>{errc::closed, errc::closed});
}

} // namespace kernel_cache_test
