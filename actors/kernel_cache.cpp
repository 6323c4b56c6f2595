#include "actors/kernel_cache.hpp"

#include "actors/shared_promise.hpp"
#include "actors/timeouts.hpp"
#include "messages/digest.hpp"
#include "messages/graph.hpp"
#include "messages/key.hpp"

#include <utility>

namespace hearth::actors {
namespace {

using found_answer = shared_promise<std::int64_t, lookup>;

constexpr std::int64_t no_kernel = -1;

// The key is a digest because a graph may be longer than a key may be.
cache_key kept_key(const named_cache_ptr& cache, const std::string& graph) {
  return {cache, key::bytes(sha256(graph).view()).encoded()};
}

void drop_oldest(kernel_cache_state& state) {
  const auto oldest = state.kernels.begin();
  const auto first = state.first_of.find(oldest->second.graph);
  if (first != state.first_of.end() && first->second == oldest->first) state.first_of.erase(first);
  state.kernels.erase(oldest);
}

// Adds a kernel under the next number. Its graph keeps its first kernel.
std::int64_t add(kernel_cache_state& state, std::string graph, const artifact& spec) {
  const auto id = state.next_id++;
  state.first_of.try_emplace(graph, id);
  state.kernels.emplace(id, kernel_cache_state::kernel{std::move(graph), spec});
  if (state.config.max_kernels > 0 && state.kernels.size() > state.config.max_kernels)
    drop_oldest(state);
  return id;
}

caf::result<std::int64_t> save(kernel_cache_pointer self, const std::string& text,
                               const artifact& spec) {
  auto graph = normalize_graph(text);
  if (!graph) return to_caf(graph.error());
  auto& state = self->state;
  if (!state.config.kept_in) return add(state, std::move(*graph), spec);
  const shared_promise<std::int64_t> reply(self->make_response_promise<std::int64_t>());
  const auto key = kept_key(state.config.kept_in, *graph);
  const auto finish = [self, reply, graph = *graph, spec] {
    reply.deliver(add(self->state, graph, spec));
  };
  // A failed insert is logged by the tier; the kernel is usable in this process all the same.
  self->request(state.config.shards.owner_of(key), answer_timeout, verb::insert_v, key, spec)
      .then([finish](insert_outcome) { finish(); }, [finish](const caf::error&) { finish(); });
  return reply.promise();
}

lookup get(const kernel_cache_state& state, std::int64_t id) {
  const auto at = state.kernels.find(id);
  return at == state.kernels.end() ? lookup{} : lookup{tier::memory, at->second.spec};
}

// The first kernel of a graph, if it is in the table.
bool deliver_known(const kernel_cache_state& state, const std::string& graph,
                   const found_answer& to) {
  const auto at = state.first_of.find(graph);
  if (at == state.first_of.end()) return false;
  to.deliver(at->second, get(state, at->second));
  return true;
}

void find_kept(kernel_cache_pointer self, const std::string& graph, const found_answer& reply) {
  const auto key = kept_key(self->state.config.kept_in, graph);
  const auto take = [self, reply, graph](const lookup& found) {
    if (deliver_known(self->state, graph, reply)) return; // another request added it
    const auto id = found.hit() ? add(self->state, graph, found.value) : no_kernel;
    reply.deliver(id, found);
  };
  self->request(self->state.config.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then([take](const lookup& found) { take(found); },
            [take](const caf::error&) { take(lookup{}); });
}

found_answer::promise_type find(kernel_cache_pointer self, const std::string& text) {
  const found_answer reply(self->make_response_promise<std::int64_t, lookup>());
  const auto graph = normalize_graph(text);
  if (!graph)
    reply.deliver(to_caf(graph.error()));
  else if (deliver_known(self->state, *graph, reply))
    return reply.promise();
  else if (self->state.config.kept_in)
    find_kept(self, *graph, reply);
  else
    reply.deliver(no_kernel, lookup{});
  return reply.promise();
}

} // namespace

kernel_cache_actor::behavior_type kernel_cache(kernel_cache_pointer self,
                                               kernel_cache_config config) {
  self->state.config = std::move(config);
  return {
      [self](verb::save, const std::string& graph, const artifact& spec) {
        return save(self, graph, spec);
      },
      [self](verb::get, std::int64_t id) { return get(self->state, id); },
      [self](verb::find, const std::string& graph) { return find(self, graph); },
      [self](verb::count) { return static_cast<std::uint64_t>(self->state.kernels.size()); },
  };
}

} // namespace hearth::actors
