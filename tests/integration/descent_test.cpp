// Coordinate descent on grids of configurations: how many candidates it measures, and how good its
// result is. The long form (HEARTH_DESCENT_RUNS=5) compares it with measuring every candidate of
// example kernels; it takes some minutes, and needs an otherwise idle machine.
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace descent_test {

using namespace hearth::test;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// How often the long form measures each kernel; 0 skips the long form.
int descent_runs() {
  const auto* const asked = std::getenv("HEARTH_DESCENT_RUNS");
  return asked ? std::atoi(asked) : 0;
}

using axis = std::pair<std::string, std::vector<int>>;

std::string text_of(const json& config) {
  std::string text;
  for (const auto& [name, number] : config.items())
    text += fmt::format("{}{} = {}", text.empty() ? "{ " : ", ", name, number.get<int>());
  return text + " }";
}

// Every combination of the parameters' values.
json grid(const std::vector<axis>& axes) {
  auto all = json::array({json::object()});
  for (const auto& [name, values] : axes) {
    auto longer = json::array();
    for (const auto& config : all)
      for (const int number : values) {
        longer.push_back(config);
        longer.back()[name] = number;
      }
    all = std::move(longer);
  }
  return all;
}

struct kernel {
  std::string name;
  std::string head; ///< the lines of its table in the plan, except `configs`
  std::vector<axis> axes;
};

struct workplace {
  fs::path write_plan(const std::string& name, const kernel& of, const json& configs) const {
    std::string lines;
    for (const auto& config : configs)
      lines += "  " + text_of(config) + ",\n";
    const auto plan = directory / (name + ".toml");
    write_text(plan, "[toolchain]\ncompiler = \"g++\"\nflags = [\"-O3\", \"-march=native\", "
                     "\"-std=c++20\"]\ntimeout = \"120s\"\n\n[[kernel]]\nname = \"" +
                         of.name + "\"\n" + of.head + "configs = [\n" + lines + "]\n");
    return plan;
  }
  json compile(const fs::path& plan, const std::string& store,
               const std::vector<std::string>& more) const {
    std::vector<std::string> all{"compile", plan.string(), "--store", (directory / store).string(),
                                 "--jobs",  "2",           "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run_hearth(all, directory.path());
    REQUIRE_MESSAGE(result.status == 0, result.err);
    return result.json();
  }
  temporary_directory directory;
};

std::string source(const std::string& name) {
  return "source = \"" + (fs::path(HEARTH_SOURCE_DIR) / "examples/kernels" / name).string() +
         ".cpp\"\nentry = \"" + name + "\"\nreference = \"" + name + "_reference\"\n";
}

std::vector<kernel> example_kernels() {
  const auto f32 = [](const char* shape, bool output = false) {
    return fmt::format("  {{ type = \"f32\", shape = [{}]{} }},\n", shape,
                       output ? ", output = true" : "");
  };
  return {
      {"matmul",
       source("matmul") + "tolerance = 1e-4\nsymbols = [\"m\", \"n\", \"k\"]\nbuffers = [\n" +
           f32("\"m\", \"k\"") + f32("\"k\", \"n\"") + f32("\"m\", \"n\"", true) +
           "]\nguards = [\"m % 12 == 0 and n % 32 == 0\"]\nshapes = [{ m = 192, n = 256, k = 256 "
           "}]\n",
       {{"TILE", {1, 2, 3, 4, 6, 12}}, {"UNROLL", {1, 2, 4}}, {"VECTOR", {2, 4, 8}}}},
      {"conv2d",
       source("conv2d") +
           "tolerance = 1e-4\nsymbols = [\"c\", \"o\", \"h\", \"w\"]\nbuffers = [\n" +
           f32("\"c\", \"h\", \"w\"") + f32("\"o\", \"c\", 3, 3") +
           f32("\"o\", \"h - 2\", \"w - 2\"", true) +
           "]\nguards = [\"o % 8 == 0 and (w - 2) % 32 == 0\"]\n"
           "shapes = [{ c = 16, o = 16, h = 34, w = 66 }]\n",
       {{"TILE", {1, 2, 4, 8}}, {"UNROLL", {1, 2, 4, 8}}, {"VECTOR", {2, 4, 8}}}},
      {"attention",
       source("attention") + "tolerance = 1e-4\nsymbols = [\"h\", \"t\", \"d\"]\nbuffers = [\n" +
           f32("\"h\", \"t\", \"d\"") + f32("\"h\", \"t\", \"d\"") + f32("\"h\", \"t\", \"d\"") +
           f32("\"h\", \"t\", \"d\"", true) +
           "]\nguards = [\"d == 64 and t % 64 == 0\"]\nshapes = [{ h = 2, t = 256, d = 64 }]\n",
       {{"TILE", {1, 2, 4, 8}}, {"BLOCK", {16, 32, 64, 128}}, {"VECTOR", {2, 4, 8}}}},
  };
}

// The number of candidates of a run, compiled here or fetched.
int looked_at(const json& report) {
  int count = report.at("compiler_runs").get<int>();
  for (const auto& one : report.at("remote").at("caches"))
    if (one.at("cache") == "actions") count += one.at("hits").get<int>();
  return count;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

// The ratio of the first's time to the second's, measured in turn in a plan of their own. A
// candidate far behind in its first round is not measured again, so this is the median of several
// contests.
double slower_by(const workplace& place, const kernel& of, const json& found, const json& best,
                 const std::string& store) {
  if (found == best) return 1;
  const auto plan = place.write_plan(of.name + "-pair", of, json::array({found, best}));
  std::vector<double> ratios;
  for (int contest = 0; contest < 5; ++contest) {
    const auto row =
        place.compile(plan, fmt::format("{}-{}", store, contest), {}).at("kernels").at(0);
    const auto ratio = row.at("slowest_time_us").get<double>() / row.at("time_us").get<double>();
    ratios.push_back(row.at("config") == found ? 1 / ratio : ratio);
  }
  return median(ratios);
}

} // namespace

TEST_CASE_FIXTURE(workplace, "descent looks at a third of a grid and finds a working candidate") {
  fs::copy(fs::path(HEARTH_SOURCE_DIR) / "tests/integration/plans/scale.cpp",
           directory / "scale.cpp");
  fs::copy(fs::path(HEARTH_SOURCE_DIR) / "tests/integration/plans/shared.hpp",
           directory / "shared.hpp");
  const kernel scale{"scale",
                     "source = \"scale.cpp\"\nentry = \"scale\"\nreference = \"scale_reference\"\n"
                     "tolerance = 1e-6\nsymbols = [\"n\"]\nbuffers = [{ type = \"f32\", shape = "
                     "[\"n\"] }, { type = \"f32\", shape = [\"n\"], output = true }]\n"
                     "guards = [\"n % 8 == 0\"]\nshapes = [{ n = 64 }]\n",
                     {{"UNROLL", {1, 2, 4, 8}}, {"UNUSED", {1, 2, 3}}}};
  const auto all = grid(scale.axes);
  const auto report = compile(write_plan("scale", scale, all), "store", {"--tune", "descent"});
  CHECK(report.at("compiler_runs") == all.size() / 3);
  CHECK(std::find(all.begin(), all.end(), report.at("kernels").at(0).at("config")) != all.end());
}

// Skipped in a run without HEARTH_DESCENT_RUNS.
TEST_CASE_FIXTURE(workplace,
                  "on example kernels descent is within a tenth of the best (long form)" *
                      doctest::skip(descent_runs() == 0)) {
  const int runs = descent_runs();
  const local_redis redis;
  // Artifacts are shared, so that each is compiled once in all runs; tunings are not shared.
  const std::vector<std::string> remote{"--remote", redis.url(),         "--remote-caches",
                                        "actions",  "--remote-deadline", "10s"};
  auto descent = remote;
  descent.insert(descent.end(), {"--tune", "descent"});
  for (const auto& one : example_kernels()) {
    const auto all = grid(one.axes);
    REQUIRE(all.size() >= 48);
    const auto plan = write_plan(one.name, one, all);
    compile(plan, one.name + "-fill", remote);
    std::vector<double> ratios;
    for (int run = 0; run < runs; ++run) {
      const auto store = [&](const char* what) {
        return fmt::format("{}-{}-{}", one.name, what, run);
      };
      const auto found = compile(plan, store("descent"), descent);
      const auto best = compile(plan, store("full"), remote);
      CHECK(looked_at(found) <= static_cast<int>(all.size() / 3));
      CHECK(looked_at(best) == static_cast<int>(all.size()));
      const auto config = found.at("kernels").at(0).at("config");
      const auto exhaustive = best.at("kernels").at(0).at("config");
      ratios.push_back(slower_by(*this, one, config, exhaustive, store("pair")));
      fmt::print("{} run {}: descent {} ({} of {}, {} trials), all {} ({} trials): {:.3f}\n",
                 one.name, run, config.dump(), looked_at(found), all.size(),
                 found.at("trials").get<int>(), exhaustive.dump(), best.at("trials").get<int>(),
                 ratios.back());
    }
    fmt::print("{}: median {:.3f}\n", one.name, median(ratios));
    CHECK(median(ratios) <= 1.1);
  }
}

} // namespace descent_test
