#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>

namespace hearth::simulation {
namespace {

constexpr std::size_t graphs = 4;

} // namespace

// The text of a graph, with one name or another: they differ in nothing else.
std::string random_run::graph_text(std::size_t graph) {
  const std::string name = random_.one_in(2) ? "%x" : "%other";
  return "graph():\n  " + name + " : int = a::b[value=" + std::to_string(graph) +
         "]()\n  return (" + name + ")";
}

void random_run::work_on_kernel(worker_state& worker) {
  const auto graph = random_.below(graphs);
  switch (random_.below(6)) {
  case 0:
  case 1: return save_kernel(worker, graph);
  case 2: return get_kernel(worker);
  case 3: return count_kernels(worker);
  default: return find_kernel(worker, graph);
  }
}

// The first save of a graph on a host is stored and goes to the server; a later one may find the
// entry that an earlier one has stored, whose process died before it could tell the server.
void random_run::save_kernel(worker_state& worker, std::size_t graph) {
  const auto bytes = "g" + std::to_string(graph) + "w" + std::to_string(++writes_);
  const auto begun = begin_question(worker);
  const bool is_first = hosts_.at(worker.host).saved_graphs.insert(graph).second;
  const auto number =
      kernels_[graph].begin(begun, worker.host, is_first ? worker.process : "", bytes);
  request<std::int64_t>(
      worker, actor_of<kernel_cache_actor>(worker, actor_kind::kernels),
      [=, this, &worker](const expected<std::int64_t>& id) {
        const auto& host = hosts_.at(worker.host);
        if (!id) return check_error(host, begun, id.error());
        auto& specs = kernel_tables_[worker.process].specs; // a look-up may have found it already
        if (specs.try_emplace(*id, bytes).first->second != bytes)
          violate(worker.name + " got a kernel's number twice: " + std::to_string(*id));
        // The actor answers although the disk refuses: then it has the spec for itself.
        if (!may_miss_since(host, begun)) kernels_[graph].succeed(number, now(), false);
      },
      verb::save_v, graph_text(graph), artifact::make(bytes));
}

void random_run::find_kernel(worker_state& worker, std::size_t graph) {
  const auto begun = begin_question(worker);
  worker.is_thread = false;
  const auto taken = taker<found_kernel>(worker, [=, this, &worker](const auto& found) {
    if (!found) return check_error(hosts_.at(worker.host), begun, found.error());
    if (const auto wrong = judge_kernel(worker, graph, begun, *found); !wrong.empty())
      violate(worker.name + " got of graph " + std::to_string(graph) + " " + wrong);
  });
  worker.self->sender()
      .request(actor_of<kernel_cache_actor>(worker, actor_kind::kernels), caf::infinite,
               verb::find_v, graph_text(graph))
      .then(
          [taken](std::int64_t id, const lookup& found) {
            taken(found_kernel{id, found});
          },
          [taken](const caf::error& why) { taken(fail(from_caf(why))); });
}

std::string random_run::judge_kernel(const worker_state& worker, std::size_t graph, moment begun,
                                     const found_kernel& answer) {
  const auto& [id, found] = answer;
  const auto& past = kernels_[graph];
  if (found.hit() != (id >= 0)) return "the number " + std::to_string(id) + " without its spec";
  if (!found.hit()) {
    if (is_kernel_final_)
      if (auto wrong = past.judge_miss_at_end(); !wrong.empty()) return wrong;
    return may_miss_since(hosts_.at(worker.host), begun)
               ? std::string()
               : past.judge_miss(worker.host, begun, now());
  }
  const auto bytes = found.value.payload();
  if (!past.has(bytes, now())) return "a spec of another graph " + quoted_text(bytes);
  auto& table = kernel_tables_[worker.process];
  if (table.specs.try_emplace(id, bytes).first->second != bytes)
    return "another spec than before with the number " + std::to_string(id);
  if (max_kernels_ == 0 && table.first_of.try_emplace(graph, id).first->second != id)
    return "another kernel than before, " + std::to_string(id);
  return {};
}

// Asks for a kernel that was saved or found, by its number.
void random_run::get_kernel(worker_state& worker) {
  const auto& specs = kernel_tables_[worker.process].specs;
  if (specs.empty()) return find_kernel(worker, random_.below(graphs));
  auto at = specs.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(random_.below(specs.size())));
  const auto [id, bytes] = *at;
  const auto begun = begin_question(worker);
  request<lookup>(
      worker, actor_of<kernel_cache_actor>(worker, actor_kind::kernels),
      [=, this, &worker, id = id, bytes = bytes](const expected<lookup>& found) {
        if (!found) return check_error(hosts_.at(worker.host), begun, found.error());
        const bool is_wrong = found->hit() ? found->value.payload() != bytes : max_kernels_ == 0;
        if (is_wrong)
          violate(worker.name + " got something else than " + quoted_text(bytes) +
                  " of the number " + std::to_string(id));
      },
      verb::get_v, id);
}

void random_run::count_kernels(worker_state& worker) {
  const auto begun = begin_question(worker);
  const auto known = kernel_tables_[worker.process].specs.size();
  request<std::uint64_t>(
      worker, actor_of<kernel_cache_actor>(worker, actor_kind::kernels),
      [=, this, &worker](const expected<std::uint64_t>& count) {
        if (!count) return check_error(hosts_.at(worker.host), begun, count.error());
        if (max_kernels_ == 0 ? *count < known : *count > max_kernels_)
          violate(worker.name + " has " + std::to_string(*count) + " kernels");
      },
      verb::count_v);
}

// Every host finds a kernel of each graph that has reached the server.
void random_run::check_kernels() {
  is_kernel_final_ = is_fleet_whole_ && has_kept_all_of(":kernels:");
  for (auto* worker : one_of_each_process())
    for (std::size_t graph = 0; graph < graphs && result_.violation.empty(); ++graph) {
      find_kernel(*worker, graph);
      answer_all();
    }
}

} // namespace hearth::simulation
