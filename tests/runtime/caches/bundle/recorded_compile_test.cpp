// One compilation, recorded: a plan, graphs with attachments and tunings become one bundle, with
// which a host that has nothing compiles and tries nothing.
#include "runtime/caches/autotune/tunings.hpp"
#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/caches/graphs/graph_cache.hpp"
#include "runtime/handle/recording_session.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/orchestrator/compile_plan.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace recorded_compile_test {

using namespace hearth;
using namespace hearth::test;
using namespace hearth::orchestrator;
namespace fs = std::filesystem;

namespace {

autotune_record tuning(std::int64_t block) {
  autotune_record made;
  made.config = {.arguments = {{"XBLOCK", block}}, .num_warps = 4, .num_stages = 1};
  made.configs_hash = "configs";
  made.time_taken_ns = 5'000'000;
  return made;
}

autotune_choices among() { return {{tuning(64).config, tuning(128).config}, "configs", false}; }

// The folders of a compilation, which every host has at the same place.
struct compilation {
  compilation() {
    write_text(directory / "plan/one.cpp",
               "#include <cstdint>\n"
               "extern \"C\" void one(void* const* buffers, const int64_t* sizes) {\n"
               "  for (int64_t i = 0; i < sizes[0]; ++i)\n"
               "    static_cast<int32_t*>(buffers[0])[i] = 7;\n}\n");
    write_text(
        directory / "plan/plan.toml",
        "[toolchain]\ncompiler = \"g++\"\n"
        "[[kernel]]\nname = \"one\"\nsource = \"one.cpp\"\nentry = \"one\"\n"
        "symbols = [\"n\"]\nguards = [\"n % 8 == 0\", \"n > 0\"]\n"
        "buffers = [{ type = \"i32\", shape = [\"n\"], output = true }]\n"
        "configs = [{ TILE = 1 }, { TILE = 2 }]\nshapes = [{ n = 8 }, { n = 16 }, { n = 3 }]\n");
  }
  plan_report run(runtime& rt, const std::optional<recording_session>& recording,
                  tune_mode mode = tune_mode::full) const {
    const auto work = load_plan((directory / "plan/plan.toml").string());
    REQUIRE_MESSAGE(work, work.error().text());
    auto report = compile_plan(rt, *work, {mode, "", recording}, {});
    REQUIRE_MESSAGE(report, report.error().text());
    CHECK(report->failures == 0);
    return std::move(*report);
  }
  temporary_directory directory;
};

// A host with a store of its own, and with a folder for kernels.
struct machine {
  machine(const fs::path& place)
      : kernels(place / "kernels")
      , rt(settings(place)) {
    graph_cache_options options;
    options.folder = kernels;
    options.hooks.on_guard = [this](std::string_view guard) { guards.emplace_back(guard); };
    options.hooks.replay = [this](const counter_deltas& deltas) { counters.apply(deltas); };
    graphs.emplace(*graph_cache::open(rt, options));
    tuning_settings scope;
    scope.scope = {sha256("toolchain"), "cpu", ""};
    tuned.emplace(*tunings::open(rt, scope));
  }
  static config settings(const fs::path& place) {
    config made;
    made.store = place / "store";
    made.jobs = 2;
    return made;
  }

  // Compiles two variants of a graph, which share one of their folders.
  void compile_graphs(const recording_session& session) {
    const auto recorded = graphs->recorded_by(session);
    for (const std::string name : {"eight", "any"}) {
      write_text(kernels / name / "k.cubin", "binary of " + name);
      write_text(kernels / "shared/k.json", (kernels / "shared").string());
      const auto making = recorded.begin("source of " + name);
      making->count("fused", 3);
      making->attach(name);
      making->attach("shared");
      REQUIRE(recorded.insert("graph", *making, "code of " + name,
                              name == "eight" ? "s0 % 8 == 0" : "s0 % 8 != 0 and s0 > 1"));
    }
  }
  std::string graph_for(std::int64_t size) const {
    const auto found = graphs->get("graph", {{"s0", size}});
    REQUIRE(found);
    return found->hit() ? std::string(found->entry.payload()) : "(none)";
  }

  fs::path kernels;
  std::vector<std::string> guards;
  counter_set counters;
  runtime rt;
  std::optional<graph_cache> graphs;
  std::optional<tunings> tuned;
};

using names_by_type = std::map<std::string, std::vector<std::string>>;

// The cache and key of each artifact.
names_by_type names_of(const recording& noted) {
  names_by_type names;
  for (const auto& one : noted.artifacts)
    names[one.type].push_back(one.key.cache->id.name() + " " +
                              key::decode(one.key.bytes)->describe());
  for (auto& [type, all] : names)
    std::sort(all.begin(), all.end());
  return names;
}

} // namespace

TEST_CASE_FIXTURE(compilation, "a recorded plan, graph and tunings make an empty host fully warm") {
  std::string bytes;
  {
    machine first(directory / "first");
    const auto session = recording_session::begin(first.rt).value();
    CHECK(run(first.rt, session).compiler_runs == 4); // two guards, two configurations
    first.compile_graphs(session);
    const auto recorded = first.tuned->recorded_by(session);
    REQUIRE(recorded.save("k1.py", tuning(64)));
    REQUIRE(recorded.save("k2.py", tuning(128)));
    const auto noted = session.finish().value();
    CHECK(noted.left_out == 0);
    bytes = bundle_bytes(noted).value();
  }
  machine second(directory / "second");
  const auto imported = import_bundle_bytes(second.rt, bytes);
  REQUIRE_MESSAGE(imported, imported.error().text());
  CHECK(imported->existed == 0);
  CHECK(imported->unknown.empty());
  // Two variants, their set, three folders.
  CHECK(imported->types.at("graph") == 6);
  CHECK(imported->types.at("plan") >= 4);
  // The two of the host; those of the plan's two entries, and their times.
  CHECK(imported->types.at("tuning") == 6);

  const auto report = run(second.rt, std::nullopt);
  CHECK(report.compiler_runs == 0);
  CHECK(report.trials == 0);
  CHECK(report.hits == 3);
  CHECK(second.graph_for(16) == "code of eight");
  CHECK(second.graph_for(3) == "code of any");
  CHECK(second.graph_for(1) == "(none)");
  CHECK(second.guards == std::vector<std::string>{"s0 % 8 == 0", "s0 % 8 != 0 and s0 > 1"});
  CHECK(second.counters.all().at("fused") == 6);
  CHECK(file_text(second.kernels / "eight/k.cubin") == "binary of eight");
  CHECK(file_text(second.kernels / "shared/k.json") == (second.kernels / "shared").string());
  CHECK(second.tuned->best("k1.py", among()).value()->candidate == 0);
  CHECK(second.tuned->best("k2.py", among()).value()->candidate == 1);
}

TEST_CASE_FIXTURE(compilation, "what a compilation hits is recorded as what it stores") {
  machine only(directory / "only");
  const auto compiled = recording_session::begin(only.rt).value();
  (void)run(only.rt, compiled);
  only.compile_graphs(compiled);
  REQUIRE(only.tuned->recorded_by(compiled).save("k.py", tuning(64)));
  const auto stored = names_of(compiled.finish().value());

  const auto warm = recording_session::begin(only.rt).value();
  CHECK(run(only.rt, warm).hits == 3);
  const auto graphs = only.graphs->recorded_by(warm);
  CHECK(graphs.get("graph", {{"s0", 16}})->hit());
  CHECK(graphs.get("graph", {{"s0", 3}})->hit());
  CHECK_FALSE(graphs.get("other", {{"s0", 3}})->hit());
  CHECK(only.tuned->recorded_by(warm).best("k.py", among()).value());
  const auto hit = names_of(warm.finish().value());
  CHECK(hit == stored);
}

TEST_CASE_FIXTURE(compilation, "a plan whose kernels are not tuned is recorded too") {
  std::string bytes;
  {
    machine first(directory / "first");
    const auto session = recording_session::begin(first.rt).value();
    CHECK(run(first.rt, session, tune_mode::off).compiler_runs == 2);
    bytes = bundle_bytes(session.finish().value()).value();
  }
  machine second(directory / "second");
  REQUIRE(import_bundle_bytes(second.rt, bytes));
  CHECK(run(second.rt, std::nullopt, tune_mode::off).compiler_runs == 0);
}

TEST_CASE_FIXTURE(compilation, "bytes of a bundle that were changed import nothing") {
  machine first(directory / "first");
  const auto session = recording_session::begin(first.rt).value();
  first.compile_graphs(session);
  auto bytes = bundle_bytes(session.finish().value()).value();
  bytes[bytes.size() / 2] ^= 1;
  machine second(directory / "second");
  CHECK(import_bundle_bytes(second.rt, bytes).error().code() == errc::malformed);
  CHECK(import_bundle_bytes(second.rt, "").error().code() == errc::malformed);
  CHECK(second.graph_for(16) == "(none)");
}

} // namespace recorded_compile_test
