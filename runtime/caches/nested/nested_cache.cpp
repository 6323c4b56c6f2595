#include "runtime/caches/nested/nested_cache.hpp"

#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/wiring/services.hpp"
#include "storage/text/json_value.hpp"

#include <caf/actor_cast.hpp>

#include <nlohmann/json.hpp>

namespace hearth {

struct nested_cache::shared {
  shared() = default;
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;
  ~shared() {
    if (actor) core->release(caf::actor_cast<caf::actor>(actor));
  }

  std::shared_ptr<engine::runtime_core> core;
  nested_cache_actor actor;
  cache_key root;
};

expected<nested_cache> nested_cache::open(runtime& in, std::string_view name, const key& root) {
  const auto over = in.open(name);
  if (!over) return fail(over.error());
  auto parts = std::make_shared<shared>();
  parts->core = internals::core(in).shared_from_this();
  const auto inside = parts->core->enter_system();
  if (!inside) return fail(inside.error());
  parts->root = cache_key(internals::name(*over), root.encoded());
  const engine::logger_guard guard;
  parts->actor = wiring::spawn_nested_cache(parts->core->system(), parts->core->shards());
  parts->core->adopt(caf::actor_cast<caf::actor>(parts->actor));
  return nested_cache(std::move(parts));
}

expected<std::optional<value>> nested_cache::lookup(const tree_path& path) const {
  const auto found = engine::ask_actor<hearth::lookup>(*shared_->core, shared_->actor, verb::find_v,
                                                       shared_->root, to_pointer(path));
  if (!found) return fail(found.error());
  if (!found->hit()) return std::nullopt;
  auto there = decode_value(found->value.payload());
  if (!there) return fail(there.error());
  return std::optional(std::move(*there));
}

expected<void> nested_cache::set(const tree_path& path, const value& v) const {
  const auto changed =
      engine::ask_actor<done>(*shared_->core, shared_->actor, verb::put_v, shared_->root,
                              to_pointer(path), artifact::make(encode(v)));
  if (!changed) return fail(changed.error());
  return {};
}

expected<std::string> nested_cache::to_json() const {
  const auto tree = lookup({});
  if (!tree) return fail(tree.error());
  const auto object = json_of(*tree ? **tree : value(value::map{}));
  if (!object) return fail(object.error());
  return object->dump(2);
}

} // namespace hearth
