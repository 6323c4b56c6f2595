#include "actors/nested_cache.hpp"

#include "actors/growing_set.hpp"
#include "actors/timeouts.hpp"
#include "messages/key.hpp"
#include "messages/set_kind.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace hearth::actors {
namespace {

using change_ptr = std::shared_ptr<nested_cache_state::change>;

constexpr auto tree_limits = path_sets.limits;

// --- what is stored ----------------------------------------------------------------------------

// The set of a tree: ids are paths, contents are values.
cache_key paths_key(const cache_key& tree) { return derived_key(tree, key(path_sets.part)); }

// Sets a value, replacing a value that the path leads through: the later change counts.
void set_later(value& tree, const tree_path& path, const value& what) {
  if (set_at(tree, path, what)) return;
  for (std::size_t length = 1; length < path.size(); ++length) {
    const tree_path above(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
    const auto* there = find_at(tree, above);
    if (there && !there->as<value::map>()) static_cast<void>(set_at(tree, above, value::map{}));
  }
  static_cast<void>(set_at(tree, path, what));
}

// The tree that the changes make, in their order.
value tree_of(const member_set& changes) {
  auto in_order = changes.members();
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.stamp, a.id) < std::tie(b.stamp, b.id);
  });
  value tree = value::map{};
  for (const auto& change : in_order) {
    const auto path = parse_pointer(change.id);
    const auto what = decode_value(change.content);
    if (path && what) set_later(tree, *path, *what);
  }
  return tree;
}

// Adds the values below `path` as members: those of maps one by one, other values whole.
void add_leaves(const value& there, tree_path& path, std::vector<set_member>& members) {
  const auto* map = there.as<value::map>();
  if (!map || map->empty() || path.size() == max_path_parts) {
    members.push_back({to_pointer(path), encode(there)});
    return;
  }
  for (const auto& [name, below] : *map) {
    path.push_back(name);
    add_leaves(below, path, members);
    path.pop_back();
  }
}

// The values of a tree of the earlier form, which was one entry.
earlier_form earlier_tree(const cache_key& tree) {
  return {tree, [](const artifact& stored) {
            std::vector<set_member> members;
            const auto decoded = decode_value(stored.payload());
            tree_path root;
            if (decoded && decoded->as<value::map>()) add_leaves(*decoded, root, members);
            return members;
          }};
}

// --- find --------------------------------------------------------------------------------------

lookup at_path(const known_set& found, const tree_path& path) {
  if (found.members.empty()) return {};
  const auto tree = tree_of(found.members);
  const auto* there = find_at(tree, path);
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
  const auto answer_from_fleet = [=, path = *path] {
    refresh_set(self, self->state.shards, paths_key(key), tree_limits, earlier_tree(key),
                [promise, path](const known_set& found) { promise.deliver(at_path(found, path)); });
  };
  find_set(self, self->state.shards, paths_key(key),
           [promise, path = std::move(*path), answer_from_fleet](const known_set& found) {
             auto here = at_path(found, path);
             if (here.hit())
               promise.deliver(std::move(here));
             else
               answer_from_fleet();
           });
  return promise.promise();
}

// --- put ---------------------------------------------------------------------------------------

void write(nested_cache_pointer self, const change_ptr& change) {
  set_change written;
  written.written.push_back({to_pointer(change->path), encode(change->what)});
  written.limits = tree_limits;
  change_set(self, self->state.shards, paths_key(change->key), std::move(written),
             [change](const expected<set_reply>& reply) {
               if (reply)
                 change->promise.deliver(done{});
               else
                 change->promise.deliver(to_caf(reply.error()));
             });
}

// Asks the fleet first, so that the change is later than those that the fleet has.
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
  refresh_set(self, self->state.shards, paths_key(key), tree_limits, earlier_tree(key),
              [self, change](const known_set& found) {
                auto tree = tree_of(found.members);
                if (auto set = set_at(tree, change->path, change->what); !set)
                  return change->promise.deliver(to_caf(set.error()));
                write(self, change);
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
