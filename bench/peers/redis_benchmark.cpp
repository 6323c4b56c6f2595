#include "bench/peers/redis_benchmark.hpp"

#include "bench/peers/peer_program.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace hearth::bench {
namespace {

// The requests a second in `"GET ...","123456.78",...`, the last line of redis-benchmark's CSV.
double rate_of(std::string_view csv) {
  const auto line = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  const auto begin = line.find("\",\"");
  double rate = 0;
  if (begin != std::string_view::npos)
    std::from_chars(line.data() + begin + 3, line.data() + line.size(), rate);
  if (rate <= 0) throw std::runtime_error("redis-benchmark says nothing of use");
  return rate;
}

} // namespace

double redis_benchmark(const redis_load& load, const std::vector<std::string>& command) {
  std::vector<std::string> line{
      "redis-benchmark",          "-c",   std::to_string(load.connections), "-P",
      std::to_string(load.depth), "-n",   std::to_string(load.requests),    "-r",
      std::to_string(load.names), "--csv"};
  if (load.cluster_port != 0)
    line.insert(line.end(),
                {"-h", "127.0.0.1", "-p", std::to_string(load.cluster_port), "--cluster"});
  else
    line.insert(line.end(), {"-s", load.socket});
  if (load.value_bytes != 0) line.insert(line.end(), {"-d", std::to_string(load.value_bytes)});
  line.insert(line.end(), command.begin(), command.end());
  const auto ended = run_peer(line);
  if (ended.status != 0) throw std::runtime_error("redis-benchmark failed");
  return 1 / rate_of(ended.text);
}

} // namespace hearth::bench
