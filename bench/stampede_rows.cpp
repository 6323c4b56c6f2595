// stampede: eight processes over one store request one action that no process has run yet, all at
// once, against a single process that requests it. The store knows the compiler in advance.
#include "bench/frame/child_program.hpp"
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"
#include "hearth/actions.hpp"
#include "hearth/hearth.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t processes = 8;
constexpr const char* asker_role = "stampede.asker";

// A slow compile: `functions` functions over the standard library's headers.
action compile_of(std::size_t functions) {
  std::string source =
      "#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n";
  for (std::size_t i = 0; i < functions; ++i)
    source += fmt::format("int f{0}(std::vector<int>& v, std::map<int, std::string>& m) {{ "
                          "std::sort(v.begin(), v.end(), [](int a, int b) {{ return a % {1} < b % "
                          "{1}; }}); m[v[0]] += std::to_string({0}); return v.back(); }}\n",
                          i, i + 2);
  action asked;
  asked.command = {"g++", "-O2", "-c", "source.cpp", "-o", "object.o"};
  asked.texts = {{"source.cpp", std::move(source)}};
  asked.outputs = {"object.o"};
  return asked;
}

config settings_of(const fs::path& store) {
  config result;
  result.store = store;
  result.jobs = 1;
  return result;
}

// Stores the facts about the compiler, by a compile of another source.
void introduce_compiler(const fs::path& store) {
  runtime host(settings_of(store));
  const auto actions = action_cache::open(host);
  if (!actions) throw std::runtime_error(actions.error().text());
  const auto outcome = actions->run(compile_of(1));
  if (!outcome || !outcome->succeeded()) throw std::runtime_error("g++ does not compile");
}

// Arguments: the store, the number of functions, and the file that receives whether it was found.
int play_asker(const std::vector<std::string>& arguments) {
  runtime host(settings_of(arguments.at(0)));
  const auto actions = action_cache::open(host);
  const auto asked = compile_of(std::stoul(arguments.at(1)));
  ready_and_wait();
  if (!actions) return 1;
  const auto outcome = actions->run(asked);
  if (!outcome || !outcome->succeeded()) return 1;
  std::ofstream(arguments.at(2)) << (outcome->found ? "found" : "compiled");
  return 0;
}

struct turn {
  double seconds;
  std::size_t compiles;
};

turn take_turn(const fs::path& directory, std::size_t askers, std::size_t functions) {
  fs::create_directories(directory);
  introduce_compiler(directory / "store");
  std::vector<child_program> running;
  std::vector<fs::path> results;
  for (std::size_t i = 0; i < askers; ++i) {
    results.push_back(directory / std::to_string(i));
    running.emplace_back(asker_role,
                         std::vector<std::string>{(directory / "store").string(),
                                                  std::to_string(functions), results[i].string()});
  }
  for (auto& one : running)
    one.wait_until_ready();
  const stopwatch watch;
  for (const auto& one : running)
    one.go();
  for (auto& one : running)
    if (!one.wait()) throw std::runtime_error("a process of the benchmark failed");
  turn result{watch.seconds(), 0};
  for (const auto& file : results) {
    std::string word;
    std::ifstream(file) >> word;
    result.compiles += word == "compiled";
  }
  fs::remove_all(directory);
  return result;
}

void measure(row_run& run) {
  const auto directory = run.how().directory / "stampede";
  const auto functions = run.scaled(200, 2);
  const auto rounds = std::min(run.how().rounds, 5u);
  std::vector<double> together, alone, compiles;
  for (unsigned round = 0; round < rounds; ++round) {
    alone.push_back(take_turn(directory, 1, functions).seconds);
    const auto all = take_turn(directory, processes, functions);
    together.push_back(all.seconds);
    compiles.push_back(static_cast<double>(all.compiles));
  }
  fs::remove_all(directory);
  run.value("compiles_count", *std::max_element(compiles.begin(), compiles.end()),
            fmt::format("the most compiler runs of {} rounds, when {} processes ask for one action",
                        rounds, processes));
  run.value("wall_ratio", median(ratios_of(together, alone)),
            fmt::format("{} processes {}, one alone {}; medians of {} rounds, in turns", processes,
                        time_text(median(together)), time_text(median(alone)), rounds));
}

} // namespace

void add_stampede_rows(registry& all) {
  all.rows.push_back({"stampede", "8 processes ask for one cold action, beside one", {}, measure});
  all.roles.push_back({asker_role, play_asker});
}

} // namespace hearth::bench
