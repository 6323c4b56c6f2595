#include "runtime/kernel_cache.hpp"

#include "actors/kernel_cache.hpp"
#include "runtime/core.hpp"

#include <caf/actor_cast.hpp>
#include <caf/scoped_actor.hpp>

#include <string>

namespace hearth {

struct kernel_cache::shared {
  std::shared_ptr<runtime_core> core;
  kernel_cache_actor actor;
};

namespace {

// Asks and waits; `take` makes the result of the answer's parts.
template <class T, class Parts, class... Answer, class... Message>
expected<T> ask(Parts& parts, T (*take)(const Answer&...), const Message&... message) {
  if (auto no = parts.core->refusal()) return fail(*no);
  expected<T> result = fail(errc::closed, "the runtime is shut down");
  caf::scoped_actor self{parts.core->system()};
  self->request(parts.actor, caf::infinite, message...)
      .receive([&](const Answer&... answer) { result = take(answer...); },
               [&](const caf::error& why) { result = fail(from_caf(why)); });
  return result;
}

template <class T>
T as_it_is(const T& answer) {
  return answer;
}

found_kernel kernel_of(const std::int64_t& id, const lookup& found) { return {id, found.value}; }

} // namespace

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
  return ask(*shared_, as_it_is<std::int64_t>, verb::save_v, std::string(graph), spec);
}

expected<lookup> kernel_cache::get(std::int64_t id) const {
  return ask(*shared_, as_it_is<lookup>, verb::get_v, id);
}

expected<found_kernel> kernel_cache::find(std::string_view graph) const {
  return ask(*shared_, kernel_of, verb::find_v, std::string(graph));
}

expected<std::uint64_t> kernel_cache::count() const {
  return ask(*shared_, as_it_is<std::uint64_t>, verb::count_v);
}

} // namespace hearth
