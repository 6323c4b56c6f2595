// A compiled graph with its kernels: a hit restores them, replays counters and notifies the host.
#include "support.hpp"

#include <hearth/graph_cache.hpp>
#include <hearth/hearth.hpp>

#include <fstream>

using example::value_of;

int main() {
  const example::folder work("graph-example");
  hearth::runtime rt(example::over(work / "store"));
  hearth::counter_set counters;

  hearth::graph_cache_options options;
  options.folder = work / "kernels";
  options.hooks.on_guard = [](auto guard) { std::cout << "holds from now on: " << guard << '\n'; };
  options.hooks.begin_tuning = [](auto source) { std::cout << "tunings of: " << source << '\n'; };
  options.hooks.replay = [&](const auto& deltas) { counters.apply(deltas); };
  const auto graphs = value_of(hearth::graph_cache::open(rt, options));

  auto making = graphs.begin("def graph(x): ...");
  std::filesystem::create_directories(work / "kernels/k1");
  std::ofstream(work / "kernels/k1/k1.cubin") << "kernel code";
  making->attach("k1");
  making->count("fused", 2);
  value_of(graphs.insert("graph", *making, "wrapper code", "s0 % 8 == 0"));

  std::filesystem::remove_all(work / "kernels"); // as on another machine
  std::cout << to_string(value_of(graphs.get("graph", {{"s0", 7}})).status) << '\n';
  const auto found = value_of(graphs.get("graph", {{"s0", 64}}));
  std::cout << to_string(found.status) << ": " << found.entry.payload() << ", "
            << counters.value("fused") << " fused, kernel "
            << (std::filesystem::exists(work / "kernels/k1/k1.cubin") ? "there" : "gone") << '\n';
}
