// One process's kernel tuner for actor tests, over a real store: compilers and trials are
// functions.
#pragma once

#include "actors/tuning_result.hpp"
#include "runtime/wiring/services.hpp"
#include "tests/support/fake_ports.hpp"
#include "tests/support/tiers.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

/// The actors of the services over these tiers, with one worker.
inline wiring::service_actors services_over(deterministic& in, const tiers& local,
                                            const actors::worker_ports& programs) {
  wiring::service_ports ports;
  ports.blocking = wiring::blocking_actors::pooled;
  ports.programs = programs;
  ports.store = local.store;
  auto made = wiring::spawn_services(in.system, local.actors, ports);
  in.keep_all(made);
  return made;
}

/// A process whose store is in `directory`.
struct tuning_process {
  tuning_process(deterministic& in, const std::filesystem::path& directory)
      : local(in, directory) {
    const auto services = services_over(in, local, fakes.ports());
    bundler = services.bundler;
    autotune = services.autotune;
    tuner = services.tuner;
    // A compile "writes" its configuration, the last argument, as its output.
    fakes.processes->answer = [this](const process_request& request) {
      (*fakes.scratch->content)["out"] = request.argv.back();
      return process_result{};
    };
    // The larger the tile, the faster.
    fakes.trials->answer = [](const std::string& library) {
      return trial_result{trial_status::good, {}, 1000 / std::stol(library), 1};
    };
  }

  tiers local;
  fake_ports fakes;
  autotune_bundler_actor bundler;
  autotune_cache_actor autotune;
  kernel_tuner_actor tuner;
};

/// The request for a kernel with these tiles as candidates.
inline tune_request_ptr request_for(const std::vector<int>& tiles, const std::string& guard = "") {
  auto request = std::make_shared<tune_request>();
  request->name = "matmul";
  request->key = key_in("kernels", key::tuple({"matmul", guard, std::to_string(tiles.size())}));
  request->family = key_in("kernels", "family");
  request->untuned_key = key_in("kernels", "untuned matmul");
  request->times_key = key_in("times", "family");
  request->address = {key_in("autotune", "matmul"), {}, "matmul"};
  request->guard = guard;
  request->sizes = {{"n", 8}};
  for (const int tile : tiles) {
    const auto text = std::to_string(tile);
    tune_candidate candidate;
    candidate.config = {{"TILE", tile}};
    candidate.config_text = "TILE=" + text;
    candidate.action_key = key_in("actions", key::tuple({"matmul", key::integer(tile)}));
    candidate.action.label = "matmul " + candidate.config_text;
    candidate.action.process.argv = {"cc", "-o", "", text};
    candidate.action.outputs = {{2, "out"}};
    request->candidates.push_back(std::move(candidate));
  }
  return request;
}

} // namespace hearth::test
