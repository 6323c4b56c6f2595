// key.*: building the key of a large graph, and hashing a toolchain.
#include "bench/frame/figures.hpp"
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include "messages/key_builder.hpp"
#include "runtime/fingerprints/toolchain/toolchain_key.hpp"

#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t nodes = 5000;
constexpr std::size_t fields = 500;
constexpr std::size_t source_files = 500;
constexpr std::size_t source_bytes = 10'000;

// A node as a compiler describes it: operator, tensor, two inputs, attributes.
key_field node_field(std::size_t i) {
  tensor_field tensor;
  tensor.dtype = "f32";
  tensor.shape = {static_cast<std::int64_t>(i % 64), std::string("s0")};
  tensor.strides = {std::string("s0"), std::int64_t{1}};
  tensor.device = "cuda:0";
  return key_field::map{
      {"op", "aten::add." + std::to_string(i % 40)},
      {"out", std::move(tensor)},
      {"in", key_field::list{static_cast<std::int64_t>(i), static_cast<int>(i / 2)}},
      {"alpha", 1.0}};
}

structural_key build_key() {
  key_builder builder;
  key_field::list graph;
  for (std::size_t i = 0; i < nodes; ++i)
    graph.push_back(node_field(i));
  builder.add("graph", std::move(graph));
  for (std::size_t i = 0; i < fields; ++i)
    builder.add("config." + std::to_string(i), static_cast<std::int64_t>(i));
  auto key = builder.build();
  if (!key) throw std::runtime_error(key.error().to_string());
  return std::move(*key);
}

double milliseconds_of(row_run& run, const std::function<void()>& work) {
  std::vector<double> times;
  for (unsigned round = 0; round < std::max(1u, run.how().rounds); ++round) {
    const stopwatch watch;
    work();
    times.push_back(watch.seconds() * 1e3);
  }
  return median(times);
}

void measure_graph(row_run& run) {
  const auto ms = milliseconds_of(run, [] { build_key(); });
  run.value(
      "build_ms", ms,
      fmt::format("describing {} nodes and {} fields, encoding and hashing them", nodes, fields));
}

fingerprints::toolchain_parts make_toolchain(const fs::path& folder) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < source_files; ++i)
    std::ofstream(folder / (std::to_string(i) + ".py"))
        << std::string(source_bytes, static_cast<char>('a' + i % 26));
  fingerprints::toolchain_parts parts;
  parts.version = "1";
  parts.compilers = {"g++"};
  parts.trees = {{"sources", folder, {}}};
  return parts;
}

void measure_toolchain(row_run& run) {
  const auto parts = make_toolchain(run.how().directory / "toolchain");
  const auto get = [&](fingerprints::toolchain_key& key) {
    if (auto made = key.get(); !made) throw std::runtime_error(made.error().to_string());
  };
  fingerprints::toolchain_key key(parts);
  const stopwatch watch;
  get(key);
  const auto made_of =
      fmt::format("a compiler and {} sources of {} bytes", source_files, source_bytes);
  run.value("cold_ms", watch.seconds() * 1e3, made_of + ", read by a process for the first time");
  run.value("warm_ms", milliseconds_of(run, [&] { get(key); }), made_of + ", known to the process");
  fs::remove_all(run.how().directory / "toolchain");
}

} // namespace

void add_key_rows(registry& all) {
  all.rows.push_back({"key.graph", "the structural key of a graph", {}, measure_graph});
  all.rows.push_back({"key.toolchain", "the key of a toolchain", {}, measure_toolchain});
}

} // namespace hearth::bench
