#include "actors/kernel_cache.hpp"

#include "messages/digest.hpp"
#include "messages/graph.hpp"
#include "messages/key.hpp"

#include <chrono>
#include <utility>

namespace hearth::actors {
namespace {

using self_pointer = kernel_cache_actor::stateful_pointer<kernel_cache_state>;
using find_promise = caf::typed_response_promise<std::int64_t, lookup>;

constexpr auto answer_timeout = std::chrono::minutes{2};
constexpr std::int64_t no_kernel = -1;

// Graphs are longer than keys may be.
cache_key kept_key(const named_cache_ptr& cache, const std::string& graph) {
  const auto sum = sha256(graph);
  const std::string digest(sum.bytes.begin(), sum.bytes.end());
  return {cache, key::bytes(digest).encoded()};
}

void drop_oldest(kernel_cache_state& state) {
  const auto oldest = state.kernels.begin();
  const auto first = state.first_of.find(oldest->second.graph);
  if (first != state.first_of.end() && first->second == oldest->first) state.first_of.erase(first);
  state.kernels.erase(oldest);
}

// A kernel under the next number; its graph keeps the first that it had.
std::int64_t add(kernel_cache_state& state, std::string graph, const artifact& spec) {
  const auto id = state.next_id++;
  state.first_of.try_emplace(graph, id);
  state.kernels.emplace(id, kernel_cache_state::kernel{std::move(graph), spec});
  if (state.config.most_kernels > 0 && state.kernels.size() > state.config.most_kernels)
    drop_oldest(state);
  return id;
}

caf::result<std::int64_t> save(self_pointer self, const std::string& text, const artifact& spec) {
  auto graph = normalize_graph(text);
  if (!graph) return to_caf(graph.error());
  auto& state = self->state;
  if (!state.config.kept_in) return add(state, std::move(*graph), spec);
  auto promise = self->make_response_promise<std::int64_t>();
  const auto key = kept_key(state.config.kept_in, *graph);
  auto finish = [self, promise, graph = *graph, spec]() mutable {
    promise.deliver(add(self->state, std::move(graph), spec));
  };
  // That it cannot be kept is said in the log by the tier; here the kernel serves all the same.
  self->request(state.config.shards.owner_of(key), answer_timeout, verb::insert_v, key, spec)
      .then([finish](insert_outcome) mutable { finish(); },
            [finish](const caf::error&) mutable { finish(); });
  return promise;
}

lookup get(const kernel_cache_state& state, std::int64_t id) {
  const auto at = state.kernels.find(id);
  return at == state.kernels.end() ? lookup{} : lookup{tier::memory, at->second.spec};
}

// The first kernel of a graph, if it is in the table.
bool deliver_known(const kernel_cache_state& state, const std::string& graph, find_promise& to) {
  const auto at = state.first_of.find(graph);
  if (at == state.first_of.end()) return false;
  to.deliver(at->second, get(state, at->second));
  return true;
}

find_promise find(self_pointer self, const std::string& text) {
  auto promise = self->make_response_promise<std::int64_t, lookup>();
  auto graph = normalize_graph(text);
  if (!graph) {
    promise.deliver(to_caf(graph.error()));
    return promise;
  }
  auto& state = self->state;
  if (deliver_known(state, *graph, promise)) return promise;
  if (!state.config.kept_in) {
    promise.deliver(no_kernel, lookup{});
    return promise;
  }
  const auto key = kept_key(state.config.kept_in, *graph);
  auto take = [self, promise, graph = *graph](const lookup& found) mutable {
    if (deliver_known(self->state, graph, promise)) return; // saved or found meanwhile
    const auto id = found.hit() ? add(self->state, graph, found.value) : no_kernel;
    promise.deliver(id, found);
  };
  self->request(state.config.shards.owner_of(key), answer_timeout, verb::get_v, key)
      .then([take](const lookup& found) mutable { take(found); },
            [take](const caf::error&) mutable { take(lookup{}); });
  return promise;
}

} // namespace

kernel_cache_actor::behavior_type kernel_cache(self_pointer self, kernel_cache_config config) {
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
