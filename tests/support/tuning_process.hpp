// One process's kernel tuner for actor tests, over a real store: compilers and trials are
// functions.
#pragma once

#include "actors/autotune_bundler.hpp"
#include "actors/autotune_cache.hpp"
#include "actors/compile_broker.hpp"
#include "actors/guarded_cache.hpp"
#include "actors/kernel_tuner.hpp"
#include "actors/tuning_result.hpp"
#include "tests/support/fake_ports.hpp"
#include "tests/support/tiers.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hearth::test {

/// A process whose store is in `directory`.
struct tuning_process {
  tuning_process(deterministic& in, const std::filesystem::path& directory)
      : local(in, directory) {
    actors::kernel_tuner_config config;
    config.shards = local.router;
    const std::vector<compile_worker_actor> workers{
        in.keep(in.system.spawn(actors::compile_worker, fakes.ports()))};
    config.broker = in.keep(in.system.spawn(actors::compile_broker, workers));
    config.guarded = in.keep(in.system.spawn(actors::guarded_cache, local.router));
    bundler = in.keep(in.system.spawn(actors::autotune_bundler, local.router));
    config.autotune = in.keep(in.system.spawn(
        actors::autotune_cache, actors::autotune_cache_config{local.router, bundler, {}}));
    autotune = config.autotune;
    tuner = in.keep(in.system.spawn(actors::kernel_tuner, config));
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

/// The entry of a kernel with these tiles to choose from.
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
