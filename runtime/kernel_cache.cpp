#include "runtime/kernel_cache.hpp"

#include "actors/kernel_cache.hpp"
#include "runtime/core.hpp"
#include "runtime/handle/ask_actor.hpp"

#include <caf/actor_cast.hpp>
#include <caf/scoped_actor.hpp>

#include <string>

namespace hearth {

struct kernel_cache::shared {
  std::shared_ptr<runtime_core> core;
  kernel_cache_actor actor;
};

expected<kernel_cache> kernel_cache::open(runtime& in, const kernel_cache_options& options) {
  auto parts = std::make_shared<shared>();
  parts->core = in.core().shared_from_this();
  if (auto no = parts->core->refusal()) return fail(*no);
  actors::kernel_cache_config config;
  config.most_kernels = options.most_kernels;
  config.shards = parts->core->shards();
  if (!options.kept_in.empty()) {
    auto kept = in.open(options.kept_in);
    if (!kept) return fail(kept.error());
    config.kept_in = kept->named();
  }
  parts->actor = parts->core->system().spawn(actors::kernel_cache, std::move(config));
  parts->core->adopt(caf::actor_cast<caf::actor>(parts->actor));
  return kernel_cache(std::move(parts));
}

expected<std::int64_t> kernel_cache::save(std::string_view graph, const artifact& spec) const {
  return ask_actor<std::int64_t>(*shared_->core, shared_->actor, verb::save_v, std::string(graph),
                                 spec);
}

expected<lookup> kernel_cache::get(std::int64_t id) const {
  return ask_actor<lookup>(*shared_->core, shared_->actor, verb::get_v, id);
}

expected<found_kernel> kernel_cache::find(std::string_view graph) const {
  auto& core = *shared_->core;
  if (auto no = core.refusal()) return fail(*no);
  const blocking_region waiting;
  expected<found_kernel> result = fail(errc::closed, "the runtime is shut down");
  caf::scoped_actor self{core.system()};
  self->request(shared_->actor, caf::infinite, verb::find_v, std::string(graph))
      .receive(
          [&](const std::int64_t& id, const lookup& found) {
            result = {id, found.value};
          },
          [&](const caf::error& why) { result = fail(from_caf(why)); });
  return result;
}

expected<std::uint64_t> kernel_cache::count() const {
  return ask_actor<std::uint64_t>(*shared_->core, shared_->actor, verb::count_v);
}

} // namespace hearth
