// Graph entries: the effects of a hit, all in one step, and the causes of a miss or an error.
#include "messages/key_builder.hpp"
#include "runtime/caches/facts/key_history.hpp"
#include "runtime/caches/graphs/graph_cache.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/runtimes.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <thread>

namespace graph_cache_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// A host that records the calls of its hooks in order.
struct host {
  graph_cache_options options(const fs::path& folder) {
    graph_cache_options result;
    result.folder = folder;
    result.hooks.on_guard = [this](std::string_view guard) {
      told.push_back("guard " + std::string(guard));
    };
    result.hooks.begin_tuning = [this](std::string_view source) {
      told.push_back("tuning of " + std::string(source));
    };
    result.hooks.replay = [this](const counter_deltas& deltas) {
      told.push_back("counters");
      counters.apply(deltas);
    };
    result.hooks.on_time_saved = [this](std::chrono::nanoseconds saved,
                                        std::chrono::nanoseconds all) {
      told.push_back("time");
      last_saved = saved;
      total_saved = all;
    };
    return result;
  }

  std::vector<std::string> told;
  counter_set counters;
  std::chrono::nanoseconds last_saved{0}, total_saved{0};
};

// One machine's store, and two folders for kernels: the one they were compiled in, and another.
struct graphs : on_disk {
  graphs()
      : rt(settings())
      , compiles(*graph_cache::open(rt, maker.options(directory / "here")))
      , loads(*graph_cache::open(rt, user.options(directory / "there"))) {}

  // Compiles a graph of two kernels.
  expected<insert_outcome> compile(const key& k, std::string_view payload,
                                   std::string_view guard = "s0 > 1") {
    write_text(directory / "here/k1/k1.cubin", "kernel one");
    write_text(directory / "here/k2/k2.json", (directory / "here/k2").string());
    auto making = compiles.begin("source of it");
    making->count("fused", 3);
    making->attach("k1");
    making->attach("k2");
    return compiles.insert(k, *making, payload, guard);
  }
  // Drops the stored files of a folder from every tier.
  void lose(const std::string& folder) {
    const auto kept = encode_attachment(*collect_folder(directory / "here", folder));
    CHECK(*rt.open("fxgraph")->erase(attachment_key(sha256(kept->payload()))));
  }

  host maker, user;
  runtime rt;
  graph_cache compiles, loads;
};

} // namespace

TEST_CASE_FIXTURE(graphs,
                  "a hit puts kernels back replays counters begins tuning and gives the guard") {
  REQUIRE(compile("g", "code"));
  const auto found = loads.get("g", {{"s0", 8}});
  REQUIRE(found);
  REQUIRE(found->hit());
  CHECK(found->entry.payload() == "code");
  CHECK(found->guard == "s0 > 1");
  CHECK(file_text(directory / "there/k1/k1.cubin") == "kernel one");
  CHECK(file_text(directory / "there/k2/k2.json") == (directory / "there/k2").string());
  CHECK(user.counters.value("fused") == 3);
  CHECK(user.told ==
        std::vector<std::string>{"counters", "tuning of source of it", "guard s0 > 1", "time"});
  CHECK(maker.told.empty()); // a compile calls no hook
}

TEST_CASE_FIXTURE(graphs, "a hit tells what it has put back, its source and its documents") {
  write_text(directory / "here/k1/k1.cubin", "kernel one");
  write_text(directory / "here/k2/k2.cubin", "kernel two");
  write_text(directory / "there/k2/k2.cubin", "kernel two");
  auto making = compiles.begin("source of it");
  making->attach("k1");
  making->attach("k2");
  making->keep_document("runnable graph", "def forward(x): ...");
  making->keep_document("output code", "extern \"C\" ...");
  REQUIRE(compiles.insert("g", *making, "code"));
  const auto found = loads.get("g", {});
  REQUIRE(found->hit());
  CHECK(found->put_back == std::vector<put_back_folder>{{"k1", put_back_outcome::put},
                                                        {"k2", put_back_outcome::identical}});
  CHECK(found->source == "source of it");
  CHECK(found->documents ==
        std::map<std::string, std::string>{{"output code", "extern \"C\" ..."},
                                           {"runnable graph", "def forward(x): ..."}});
}

TEST_CASE_FIXTURE(graphs, "a host evaluates guards itself") {
  REQUIRE(compile("g", "large", "s0 > 4"));
  REQUIRE(compile("g", "even", "s0 % 2 == 0"));
  std::vector<std::string> asked;
  const auto found = loads.get_where("g", [&](std::string_view guard) -> expected<bool> {
    asked.emplace_back(guard);
    return guard == "s0 % 2 == 0";
  });
  REQUIRE(found->hit());
  CHECK(found->entry.payload() == "even");
  CHECK(found->guard == "s0 % 2 == 0");
  CHECK(asked.size() <= 2);
  CHECK(user.told.size() == 4);
  const auto missed = loads.get_where("g", [](std::string_view) { return false; });
  CHECK(missed->status == guarded_status::guard_miss);
  CHECK(missed->sample != "");
  const auto failing = loads.get_where("g", [](std::string_view) -> expected<bool> {
    return fail(errc::invalid_argument, "unknown symbol");
  });
  CHECK(failing->status == guarded_status::guard_miss);
  CHECK(loads.get_where("none", [](std::string_view) { return true; })->status ==
        guarded_status::full_miss);
}

TEST_CASE_FIXTURE(graphs, "guards can be skipped, and the host is given none then") {
  REQUIRE(compile("g", "large", "s0 > 4"));
  auto options = user.options(directory / "there");
  options.skip_guards = true;
  const auto unsafe = *graph_cache::open(rt, options);
  CHECK(unsafe.get("g", {{"s0", 1}})->hit());
  CHECK(unsafe.get("g", {})->hit());
  CHECK(std::count(user.told.begin(), user.told.end(), "guard s0 > 4") == 0);
  CHECK(std::count(user.told.begin(), user.told.end(), "counters") == 2);
}

TEST_CASE("a look-up of a graph asks the tiers that it names") {
  const local_redis redis;
  const temporary_directory directory;
  graph_cache_options options;
  options.folder = directory / "kernels";
  {
    runtime rt(of_host(directory / "first", redis.url()));
    const auto made = *graph_cache::open(rt, options);
    REQUIRE(made.insert("g", *made.begin("source"), "code", "s0 > 1"));
  }
  runtime rt(of_host(directory / "second", redis.url()));
  const auto graphs = *graph_cache::open(rt, options);
  CHECK(graphs.get("g", {{"s0", 8}}, lookup_tiers::local)->status == guarded_status::full_miss);
  const auto remote = graphs.get("g", {{"s0", 8}}, lookup_tiers::remote);
  REQUIRE(remote->hit());
  CHECK(remote->from == tier::remote);
  CHECK(graphs
            .get_where(
                "g", [](std::string_view) { return true; }, lookup_tiers::remote)
            ->hit());
  REQUIRE(graphs.get("g", {{"s0", 8}})->hit());
  while (graphs.get("g", {{"s0", 8}})->from == tier::remote)
    std::this_thread::yield(); // this host's copy is made behind the answer
  CHECK(graphs.get("g", {{"s0", 8}}, lookup_tiers::local)->hit());
}

TEST_CASE_FIXTURE(graphs, "every hit reports the time that it saved and the total") {
  REQUIRE(compile("g", "code"));
  REQUIRE(compile("h", "other code"));
  const auto first = loads.get("g", {{"s0", 8}});
  REQUIRE(first->hit());
  CHECK(first->time_saved.count() > 0);
  CHECK(first->time_saved == time_taken_of(first->entry));
  CHECK(user.last_saved == first->time_saved);
  const auto second = loads.get("h", {{"s0", 8}});
  CHECK(user.last_saved == second->time_saved);
  CHECK(user.total_saved == first->time_saved + second->time_saved);
  CHECK(loads.time_saved() == user.total_saved);
  REQUIRE(loads.get("g", {{"s0", 8}})->hit());
  CHECK(loads.time_saved() == 2 * first->time_saved + second->time_saved);
  CHECK(compiles.time_saved().count() == 0);
}

TEST_CASE_FIXTURE(graphs, "a miss calls no hook of the host and reports its kind") {
  CHECK(loads.get("g", {{"s0", 8}})->status == guarded_status::full_miss);
  REQUIRE(compile("g", "code"));
  const auto missed = loads.get("g", {{"s0", 1}});
  CHECK(missed->status == guarded_status::guard_miss);
  CHECK(missed->sample == "s0 > 1");
  CHECK(user.told.empty());
  CHECK_FALSE(fs::exists(directory / "there"));
}

TEST_CASE_FIXTURE(graphs, "the hit is the version whose guard holds") {
  REQUIRE(compile("g", "large", "s0 > 4"));
  REQUIRE(compile("g", "small", "s0 <= 4"));
  CHECK(loads.get("g", {{"s0", 8}})->entry.payload() == "large");
  CHECK(loads.get("g", {{"s0", 2}})->entry.payload() == "small");
  CHECK(*compile("g", "small", "s0 <= 4") == insert_outcome::exists);
}

TEST_CASE_FIXTURE(graphs, "a missing attachment is a miss that the next compile repairs") {
  REQUIRE(compile("g", "code"));
  lose("k2");
  const auto missed = loads.get("g", {{"s0", 8}});
  REQUIRE(missed);
  CHECK_FALSE(missed->hit());
  CHECK(missed->status == guarded_status::full_miss);
  CHECK(missed->missing_attachment == "k2");
  CHECK(user.told.empty());
  CHECK_FALSE(fs::exists(directory / "there")); // even the attachment that exists is not put back
  REQUIRE(compile("g", "code"));
  CHECK(loads.get("g", {{"s0", 8}})->hit());
}

TEST_CASE_FIXTURE(graphs, "another failure is an error and no hook of the host is called") {
  REQUIRE(compile("g", "code"));
  write_text(directory / "there", "a file where the folder should be");
  const auto found = loads.get("g", {{"s0", 8}});
  REQUIRE_FALSE(found);
  CHECK(found.error().text().find("cannot make " + (directory / "there").string()) == 0);
  CHECK(user.told.empty());
  CHECK(loads.time_saved().count() == 0);
}

TEST_CASE_FIXTURE(graphs, "an attachment that differs from the stored one is corrupt") {
  REQUIRE(compile("g", "code"));
  const auto kept = encode_attachment(*collect_folder(directory / "here", "k1"));
  const auto name = attachment_key(sha256(kept->payload()));
  REQUIRE(rt.open("fxgraph")->put(name, artifact::make("somebody else's")));
  const auto found = loads.get("g", {{"s0", 8}});
  REQUIRE_FALSE(found);
  CHECK(found.error().code() == errc::corrupt);
  CHECK(user.told.empty());
}

TEST_CASE_FIXTURE(graphs, "an entry without a graph's metadata is an error") {
  const auto name = *rt.open("fxgraph");
  REQUIRE(engine::ask_actor<insert_outcome>(
      internals::core(rt), internals::core(rt).guarded(), verb::insert_v,
      cache_key(internals::name(name), key("g").encoded()), std::string("True"),
      artifact::make("code", value::map{{"counters", "none"}})));
  const auto found = loads.get("g", {});
  REQUIRE_FALSE(found);
  CHECK(found.error().code() == errc::malformed);
}

TEST_CASE_FIXTURE(graphs, "concurrent compiles do not mix their counters") {
  auto one = compiles.begin("one");
  auto two = compiles.begin("two");
  one->count("fused", 1);
  two->count("fused", 10);
  one->count("fused", 1);
  REQUIRE(compiles.insert("one", *one, "code one"));
  REQUIRE(compiles.insert("two", *two, "code two"));
  REQUIRE(loads.get("one", {})->hit());
  CHECK(user.counters.value("fused") == 2);
  REQUIRE(loads.get("two", {})->hit());
  CHECK(user.counters.value("fused") == 12);
}

TEST_CASE_FIXTURE(graphs, "a folder that cannot be collected stores nothing") {
  auto making = compiles.begin("source");
  making->attach("none");
  CHECK(compiles.insert("g", *making, "code").error().code() == errc::not_found);
  CHECK(loads.get("g", {})->status == guarded_status::full_miss);
}

TEST_CASE_FIXTURE(graphs, "entries share identical attachments") {
  REQUIRE(compile("g", "code"));
  const auto before = internals::core(rt).store()->stats().entries;
  REQUIRE(compile("h", "other code"));
  // Adds its variant and its list, but no kernel.
  CHECK(internals::core(rt).store()->stats().entries == before + 2);
}

TEST_CASE("a remote hit of a graph fills the disk with all of its entries") {
  local_redis redis;
  temporary_directory directory;
  const auto machine = [&](const char* name, bool remote) {
    config settings;
    settings.store = directory / name;
    settings.jobs = 1;
    if (remote) settings.remote.url = redis.url();
    return settings;
  };
  host none;
  write_text(directory / "here/k1/k1.cubin", "kernel one");
  {
    runtime maker(machine("a", true));
    const auto compiles = *graph_cache::open(maker, none.options(directory / "here"));
    auto making = compiles.begin("source");
    making->attach("k1");
    REQUIRE(compiles.insert("g", *making, "code", "s0 > 1"));
  }
  {
    runtime user(machine("b", true));
    const auto found =
        graph_cache::open(user, none.options(directory / "b_kernels"))->get("g", {{"s0", 2}});
    REQUIRE(found);
    REQUIRE(found->hit());
    CHECK(found->from == tier::remote);
  }
  runtime alone(machine("b", false));
  const auto found =
      graph_cache::open(alone, none.options(directory / "c_kernels"))->get("g", {{"s0", 2}});
  REQUIRE(found);
  REQUIRE(found->hit());
  CHECK(found->from == tier::disk);
  CHECK(file_text(directory / "c_kernels/k1/k1.cubin") == "kernel one");
}

TEST_CASE_FIXTURE(graphs, "a graph whose details are kept is explained after its compile") {
  const auto compile_with = [&](const std::string& flags, std::string_view guard) {
    const auto made = key_builder().add("graph", "relu").add("flags", flags).build().value();
    auto making = compiles.begin("source");
    making->keep_details(made.details);
    REQUIRE(compiles.insert(made.text(), *making, "code", guard));
    return made.text();
  };
  compile_with("-O2", "");
  const auto keys = key_history::open(rt).value();
  REQUIRE(keys.last()->size() == 1);
  CHECK(keys.last()->front().lines.empty());
  const auto name = compile_with("-O3", "");
  REQUIRE(keys.last()->size() == 1);
  CHECK(keys.last()->front().what == "graph fxgraph " + name);
  CHECK(keys.last()->front().lines == std::vector<std::string>{R"(flags: "-O2" -> "-O3")"});
  REQUIRE(compile("g", "code without details"));
  CHECK(keys.last()->front().what == "graph fxgraph " + name);
}

} // namespace graph_cache_test
