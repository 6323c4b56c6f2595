#include "runtime/simulation/simulator/run.hpp"

#include "messages/hash.hpp"
#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <array>

namespace hearth::simulation {
namespace {

using std::chrono::milliseconds;

// Clients wake at multiples of it, so that they often ask at the same time.
constexpr milliseconds tick{100};

} // namespace

random_run::random_run(std::uint64_t seed, const simulation_options& options)
    : options_(options)
    , random_(seed) {
  if (options_.hash_trace)
    world_.system().set_trace([this](std::string line) {
      result_.trace_hash = fast_hash(line, result_.trace_hash);
      if (options_.keep_trace) result_.trace.push_back(std::move(line));
    });
  world_.system().choose_by(&random_);
}

random_run::~random_run() {
  for (auto& worker : workers_)
    ++worker.life; // answers from here on are ignored
}

simulation_result random_run::run() {
  set_up();
  work_until(options_.duration);
  end_faults();
  answer_all();
  let_clients_go_on();
  store_all();
  if (result_.violation.empty()) check_at_rest();
  if (result_.violation.empty()) check_end();
  result_.messages = world_.system().steps();
  return std::move(result_);
}

void random_run::violate(std::string text) {
  if (!result_.violation.empty()) return;
  result_.violation = text_of(world_.system().now()) + ": " + std::move(text);
  world_.system().note("VIOLATION " + result_.violation);
}

// --- the world -------------------------------------------------------------------------------

void random_run::set_up() {
  is_tight_ = random_.one_in(4);
  process_options process;
  process.memory_shards = static_cast<unsigned>(random_.between(1, 2));
  process.disk_shards = static_cast<unsigned>(random_.between(1, 2));
  process.memory_bytes = is_tight_ ? 128u << 10 : 4u << 20;
  process.disk_bytes = is_tight_ ? 1u << 20 : 64u << 20;
  process.segment_bytes = 64u << 10;
  max_value_bytes_ = is_tight_ ? 40'000 : random_.one_in(4) ? 20'000 : 200;
  process.workers = static_cast<unsigned>(random_.between(1, 2));
  process.patience = patience_of_processes;
  has_hanging_clients_ = random_.one_in(3);
  if (options_.has_cluster || options_.has_farther || random_.one_in(3)) set_up_remote(process);
  make_keys();
  max_kernels_ = random_.one_in(2) ? 0 : 4;
  process.max_kernels = max_kernels_;
  process.kernels_in = *world_.cache("kernels", "0");
  for (unsigned h = 0; h < options_.hosts; ++h)
    set_up_host("h" + std::to_string(h), process);
  plan_fault();
}

void random_run::make_keys() {
  const std::array<std::string, 2> caches{"fxgraph", "tunes"};
  const auto count = random_.between(3, 12);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto cache = world_.cache(caches[random_.below(2)], random_.one_in(4) ? "2" : "0");
    keys_.push_back({cache_key(*cache, key("k" + std::to_string(i)).encoded()), i % 2 == 0});
  }
  constexpr std::uint64_t compile_keys = 3; // number of keys of each kind
  for (std::uint64_t i = 0; i < compile_keys; ++i) {
    const auto name = key("g" + std::to_string(i)).encoded();
    guarded_keys_.emplace_back(*world_.cache("guarded", "0"), name);
    autotune_keys_.emplace_back(*world_.cache("autotune", "0"), name);
    if (has_remote_) fleet_tuning_keys_.emplace_back(*world_.cache("tunings", "0"), name);
    tune_keys_.emplace_back(*world_.cache("plan", "0"), name);
  }
  constexpr std::uint64_t trees = 2;
  for (std::uint64_t i = 0; i < trees; ++i)
    tree_keys_.emplace_back(*world_.cache("nested", "0"), key("t" + std::to_string(i)).encoded());
  constexpr std::uint64_t bundles = 2;
  for (std::uint64_t i = 0; i < bundles; ++i)
    bundle_keys_.emplace_back(*world_.cache("bundles", "0"),
                              key("b" + std::to_string(i)).encoded());
}

void random_run::set_up_host(const std::string& name, const process_options& process) {
  world_.add_host(name);
  auto& host = hosts_[name];
  host.name = name;
  for (unsigned p = 0; p < options_.processes; ++p) {
    const auto at = name + "p" + std::to_string(p);
    set_up_compiler(world_.add_process(at, name, process).compiler());
    host.processes.push_back(at);
    for (unsigned c = 0; c < options_.clients; ++c) {
      const auto client = at + "c" + std::to_string(c);
      auto& self = world_.add_client(client, at);
      workers_.push_back({client, at, name, &self});
      for (std::size_t i = 0; i < bundle_keys_.size(); ++i)
        for (const auto* cache : {"bundled", "final"})
          world_.set_cache(cache, client + "b" + std::to_string(i), {.remote = false});
    }
  }
  set_up_files(host);
}

void random_run::set_up_compiler(simulated_compiler& compiler) {
  using how = compiler_rule::outcome;
  compiler.add({"*", how::makes, "", milliseconds(10)});
  compiler.add({"slow*", how::makes, "", milliseconds(400)});
  compiler.add({"files", how::makes, "", milliseconds(600)});
  compiler.add({"bad*", how::fails, "x.cpp:1: error", milliseconds(20)});
  compiler.add({"crashing*", how::crashes, "", milliseconds(30)});
  compiler.add({"hanging*", how::hangs, "", {}});
  compiler.add({"object of slow*", {trial_status::good, {}, 2000, 1}});
  compiler.add({"object of *3", {trial_status::crashed, "signal 11", 0, 0}});
}

// --- time and steps --------------------------------------------------------------------------

void random_run::work_until(virtual_time end) {
  auto& system = world_.system();
  while (result_.violation.empty() && system.now() < end) {
    if (now() >= max_steps) violate("the run takes too many steps");
    if (now() >= next_check_) check_bounds();
    if (system.now() >= next_fault_) {
      inject_fault();
      plan_fault();
    }
    if (random_.one_in(3) && wake_somebody()) continue;
    if (system.deliver_one() || wake_somebody()) continue;
    pass_time(end);
  }
}

void random_run::pass_time(virtual_time end) {
  auto next = std::min(end, next_fault_);
  for (const auto& worker : workers_)
    if (!worker.waits && worker.self->is_alive()) next = std::min(next, worker.wake);
  if (const auto event = world_.system().next_event()) next = std::min(next, *event);
  world_.system().advance_to(std::max(next, world_.system().now() + virtual_time(1)));
}

bool random_run::wake_somebody() {
  std::vector<worker_state*> ready;
  for (auto& worker : workers_)
    if (!worker.waits && worker.wake <= world_.system().now() && worker.self->is_alive())
      ready.push_back(&worker);
  if (ready.empty()) return false;
  act(*ready[random_.below(ready.size())]);
  return true;
}

void random_run::rest(worker_state& worker) {
  worker.waits = false;
  worker.wake = world_.system().now() / tick * tick + tick * random_.below(6);
}

simulation_result simulate(std::uint64_t seed, const simulation_options& options) {
  return random_run(seed, options).run();
}

} // namespace hearth::simulation
