#include "runtime/caches/kernels/kernel_cache.hpp"

#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/wiring/services.hpp"

#include <caf/actor_cast.hpp>
#include <caf/scoped_actor.hpp>

#include <string>

namespace hearth {

struct kernel_cache::shared {
  shared() = default;
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() {
    if (actor) core->release(caf::actor_cast<caf::actor>(actor));
  }

  std::shared_ptr<engine::runtime_core> core;
  kernel_cache_actor actor;
};

expected<kernel_cache> kernel_cache::open(runtime& in, const kernel_cache_options& options) {
  auto parts = std::make_shared<shared>();
  parts->core = internals::core(in).shared_from_this();
  actors::kernel_cache_config config;
  config.max_kernels = options.max_kernels;
  if (!options.kept_in.empty()) { // `open` may log, and the logger may shut the runtime down
    auto kept = in.open(options.kept_in);
    if (!kept) return fail(kept.error());
    config.kept_in = internals::name(*kept);
  }
  const auto inside = parts->core->enter_system();
  if (!inside) return fail(inside.error());
  config.shards = parts->core->shards();
  const engine::logger_guard guard;
  parts->actor = wiring::spawn_kernel_cache(parts->core->system(), std::move(config));
  parts->core->adopt(caf::actor_cast<caf::actor>(parts->actor));
  return kernel_cache(std::move(parts));
}

expected<std::int64_t> kernel_cache::save(std::string_view graph, const artifact& spec) const {
  return engine::ask_actor<std::int64_t>(*shared_->core, shared_->actor, verb::save_v,
                                         std::string(graph), spec);
}

expected<lookup> kernel_cache::get(std::int64_t id) const {
  return engine::ask_actor<lookup>(*shared_->core, shared_->actor, verb::get_v, id);
}

expected<found_kernel> kernel_cache::find(std::string_view graph) const {
  auto& core = *shared_->core;
  const auto inside = core.enter_system();
  if (!inside) return fail(inside.error());
  const blocking_region waiting;
  expected<found_kernel> result = fail(errc::closed, "the runtime is shut down");
  const engine::logger_guard guard;
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
  return engine::ask_actor<std::uint64_t>(*shared_->core, shared_->actor, verb::count_v);
}

} // namespace hearth
