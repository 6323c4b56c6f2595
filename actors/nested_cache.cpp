#include "actors/nested_cache.hpp"

#include "actors/timeouts.hpp"
#include "actors/update_entry.hpp"

#include <memory>
#include <utility>

namespace hearth::actors {
namespace {

using change_ptr = std::shared_ptr<nested_cache_state::change>;

// A tree that cannot be read counts as empty; the next change replaces it.
value tree_of(const lookup& found) {
  if (!found.hit()) return value::map{};
  auto tree = decode_value(found.value.payload());
  return tree && tree->as<value::map>() ? std::move(*tree) : value(value::map{});
}

const memory_shard_actor& owner_of(nested_cache_pointer self, const cache_key& key) {
  return self->state.shards.owner_of(key);
}

// --- find --------------------------------------------------------------------------------------

lookup at_path(const lookup& found, const tree_path& path) {
  const auto tree = tree_of(found);
  const auto* there = found.hit() ? find_at(tree, path) : nullptr;
  return there ? lookup{found.from, artifact::make(encode(*there))} : lookup{};
}

caf::result<lookup> find(nested_cache_pointer self, const cache_key& key,
                         const std::string& pointer) {
  const shared_promise<lookup> promise(self->make_response_promise<lookup>());
  auto path = parse_pointer(pointer);
  if (!path) {
    promise.deliver(to_caf(path.error()));
    return promise.promise();
  }
  self->request(owner_of(self, key), answer_timeout, verb::get_v, key)
      .then([promise, path = std::move(*path)](
                const lookup& found) { promise.deliver(at_path(found, path)); },
            [promise](const caf::error& why) { promise.deliver(why); });
  return promise.promise();
}

// --- put ---------------------------------------------------------------------------------------

expected<std::optional<artifact>> changed_tree(const expected<lookup>& found,
                                               const nested_cache_state::change& change) {
  if (!found) return fail(found.error());
  auto tree = tree_of(*found);
  if (auto set = set_at(tree, change.path, change.what); !set) return fail(set.error());
  return std::optional(artifact::make(encode(tree)));
}

caf::result<done> put(nested_cache_pointer self, const cache_key& key, const std::string& pointer,
                      const artifact& encoded) {
  const shared_promise<done> promise(self->make_response_promise<done>());
  auto path = parse_pointer(pointer);
  auto what = decode_value(encoded.payload());
  if (!path || !what) {
    promise.deliver(to_caf(path ? what.error() : path.error()));
    return promise.promise();
  }
  const auto change = std::make_shared<nested_cache_state::change>(
      nested_cache_state::change{key, std::move(*path), std::move(*what), promise});
  update_under_lock(
      self, owner_of(self, key), key, without_lock::fails,
      [change](const expected<lookup>& found) { return changed_tree(found, *change); },
      [change](const expected<update_outcome>& outcome) {
        if (outcome)
          change->promise.deliver(done{});
        else
          change->promise.deliver(to_caf(outcome.error()));
      });
  return promise.promise();
}

} // namespace

nested_cache_actor::behavior_type nested_cache(nested_cache_pointer self, shard_router shards) {
  self->state.shards = std::move(shards);
  return {
      [self](verb::find, const cache_key& key, const std::string& pointer) {
        return find(self, key, pointer);
      },
      [self](verb::put, const cache_key& key, const std::string& pointer, const artifact& encoded) {
        return put(self, key, pointer, encoded);
      },
  };
}

} // namespace hearth::actors
