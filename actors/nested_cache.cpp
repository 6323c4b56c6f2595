#include "actors/nested_cache.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace hearth::actors {
namespace {

using self_pointer = nested_cache_actor::stateful_pointer<nested_cache_state>;
using change_ptr = std::shared_ptr<nested_cache_state::change>;

constexpr auto answer_timeout = std::chrono::minutes{2};

// A tree that cannot be read is an empty one: the next change stores it anew.
value tree_of(const lookup& found) {
  if (!found.hit()) return value::map{};
  auto tree = decode_value(found.value.payload());
  return tree && tree->as<value::map>() ? std::move(*tree) : value(value::map{});
}

const memory_shard_actor& owner_of(self_pointer self, const cache_key& key) {
  return self->state.shards.owner_of(key);
}

// --- find --------------------------------------------------------------------------------------

lookup at_path(const lookup& found, const tree_path& path) {
  const auto tree = tree_of(found);
  const auto* there = found.hit() ? find_at(tree, path) : nullptr;
  return there ? lookup{found.from, artifact::make(encode(*there))} : lookup{};
}

caf::result<lookup> find(self_pointer self, const cache_key& key, const std::string& pointer) {
  const owed<lookup> promise(self->make_response_promise<lookup>());
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

void release(self_pointer self, const change_ptr& change, lease_id lease) {
  self->send(owner_of(self, change->key), verb::release_v, lease);
}

void end_change(self_pointer self, const change_ptr& change, lease_id lease) {
  release(self, change, lease);
  change->promise.deliver(done{});
}

void fail_change(self_pointer self, const change_ptr& change, lease_id lease,
                 const caf::error& why) {
  release(self, change, lease);
  change->promise.deliver(why);
}

void change_tree(self_pointer self, const change_ptr& change, lease_id lease);

// Somebody stored a tree under the key and holds no lease on it: ours is made of that one.
void change_again(self_pointer self, const change_ptr& change, lease_id lease) {
  if (std::exchange(change->was_overtaken, true))
    return fail_change(self, change, lease,
                       to_caf({errc::busy, "others write this entry past its lease; try again"}));
  change_tree(self, change, lease);
}

// The first tree of a key is inserted: a put makes other processes drop what they hold in memory.
void store_tree(self_pointer self, const change_ptr& change, lease_id lease, const lookup& found) {
  auto tree = tree_of(found);
  if (auto set = set_at(tree, change->path, change->what); !set)
    return fail_change(self, change, lease, to_caf(set.error()));
  const auto stored = artifact::make(encode(tree));
  const auto failed = [=](const caf::error& why) { fail_change(self, change, lease, why); };
  const auto& shard = owner_of(self, change->key);
  if (found.hit())
    self->request(shard, answer_timeout, verb::put_v, change->key, stored)
        .then([=](const done&) { end_change(self, change, lease); }, failed);
  else
    self->request(shard, answer_timeout, verb::insert_v, change->key, stored)
        .then(
            [=](insert_outcome outcome) {
              if (outcome == insert_outcome::exists)
                change_again(self, change, lease);
              else
                end_change(self, change, lease);
            },
            failed);
}

void change_tree(self_pointer self, const change_ptr& change, lease_id lease) {
  self->request(owner_of(self, change->key), answer_timeout, verb::get_v, change->key)
      .then([=](const lookup& found) { store_tree(self, change, lease, found); },
            [=](const caf::error& why) { fail_change(self, change, lease, why); });
}

caf::result<done> put(self_pointer self, const cache_key& key, const std::string& pointer,
                      const artifact& encoded) {
  const owed<done> promise(self->make_response_promise<done>());
  auto path = parse_pointer(pointer);
  auto what = decode_value(encoded.payload());
  if (!path || !what) {
    promise.deliver(to_caf(path ? what.error() : path.error()));
    return promise.promise();
  }
  const auto change = std::make_shared<nested_cache_state::change>(
      nested_cache_state::change{key, std::move(*path), std::move(*what), promise});
  self->request(owner_of(self, key), caf::infinite, verb::lock_v, key)
      .then([=](const lease_reply& lease) { change_tree(self, change, lease.lease); },
            [=](const caf::error& why) { change->promise.deliver(why); });
  return promise.promise();
}

} // namespace

nested_cache_actor::behavior_type nested_cache(self_pointer self, shard_router shards) {
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
