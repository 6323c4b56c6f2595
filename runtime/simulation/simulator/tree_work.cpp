#include "runtime/simulation/simulator/run.hpp"

#include "messages/tree.hpp"
#include "runtime/simulation/text.hpp"

#include <array>

namespace hearth::simulation {
namespace {

// Paths of values: none leads through another one. The last one is set at the end only.
constexpr std::array<const char*, 5> paths{"/gemm/64", "/gemm/128", "/gemm/256/half", "/conv",
                                           "/end"};
constexpr std::size_t end_path = paths.size() - 1;
constexpr const char* absent_path = "/none";

} // namespace

void random_run::work_on_tree(worker_state& worker) {
  const auto tree = random_.below(tree_keys_.size());
  if (random_.one_in(2)) return set_in_tree(worker, tree, random_.below(end_path));
  if (random_.one_in(4)) return find_tree(worker, tree);
  find_in_tree(worker, tree, random_.below(end_path));
}

// How often a look-up of this process got no answer from the server.
std::uint64_t random_run::unanswered_by_fleet(const std::string& process) {
  const auto& one = *world_.process(process);
  return one.figure(actor_kind::remote, std::nullopt, "skipped").value_or(0) +
         one.figure(actor_kind::remote, std::nullopt, "failures").value_or(0);
}

void random_run::set_in_tree(worker_state& worker, std::size_t tree, std::size_t path) {
  const auto bytes = "w" + std::to_string(++writes_);
  const auto begun = begin_question(worker);
  const auto number = trees_[{tree, path}].begin(begun, worker.host, worker.process, bytes);
  const auto unanswered = unanswered_by_fleet(worker.process);
  request<done>(
      worker, actor_of<nested_cache_actor>(worker, actor_kind::nested),
      [=, this, &worker](const expected<done>& set) {
        if (!set) return check_error(hosts_.at(worker.host), begun, set.error());
        const bool knew_fleet = unanswered_by_fleet(worker.process) == unanswered;
        trees_[{tree, path}].succeed(number, now(), knew_fleet);
      },
      verb::put_v, tree_keys_[tree], std::string(paths[path]),
      artifact::make(encode(value(bytes))));
}

void random_run::find_in_tree(worker_state& worker, std::size_t tree, std::size_t path) {
  const auto begun = begin_question(worker);
  request<lookup>(
      worker, actor_of<nested_cache_actor>(worker, actor_kind::nested),
      [=, this, &worker](const expected<lookup>& found) {
        if (!found) return check_error(hosts_.at(worker.host), begun, found.error());
        const auto there = decode_value(found->value.payload());
        judge_in_tree(worker, tree, path, begun, found->hit() && there ? &*there : nullptr);
      },
      verb::find_v, tree_keys_[tree], std::string(paths[path]));
}

void random_run::find_tree(worker_state& worker, std::size_t tree) {
  const auto begun = begin_question(worker);
  request<lookup>(
      worker, actor_of<nested_cache_actor>(worker, actor_kind::nested),
      [=, this, &worker](const expected<lookup>& found) {
        if (!found) return check_error(hosts_.at(worker.host), begun, found.error());
        const auto all = found->hit() ? decode_value(found->value.payload()) : value(value::map{});
        last_tree_ = found->hit() ? found->value.payload() : std::string_view();
        for (std::size_t path = 0; path < paths.size(); ++path)
          judge_in_tree(worker, tree, path, begun,
                        all ? find_at(*all, *parse_pointer(paths[path])) : nullptr);
      },
      verb::find_v, tree_keys_[tree], std::string());
}

// Judges what a look-up found at a path; null: nothing.
void random_run::judge_in_tree(const worker_state& worker, std::size_t tree, std::size_t path,
                               moment begun, const value* found) {
  auto& past = trees_[{tree, path}];
  const auto& host = hosts_.at(worker.host);
  const auto* text = found ? found->as<std::string>() : nullptr;
  std::string wrong;
  if (found && (!text || !past.has(*text, now())))
    wrong = "a value that nobody set";
  else if (may_miss_since(host, begun))
    return;
  else if (text)
    wrong = past.judge_hit(worker.host, *text, begun, now());
  else
    wrong = past.judge_miss(worker.host, begun, now());
  if (wrong.empty() && is_tree_final_)
    wrong = text ? past.judge_hit_at_end(*text) : past.judge_miss_at_end();
  if (text && !has_unwritten_members(host)) past.see(worker.host, *text, begun, now());
  if (wrong.empty()) return;
  violate(worker.name + " got of " + text_of(tree_keys_[tree]) + " " + paths[path] + " " + wrong);
}

// Whether a process holds members that the disk refused. It finds them, and others do not yet.
bool random_run::has_unwritten_members(const host_state& host) {
  return std::any_of(host.processes.begin(), host.processes.end(), [&](const std::string& name) {
    return world_.process(name)->figure(actor_kind::memory, std::nullopt, "unwritten_members") != 0;
  });
}

// --- at the end --------------------------------------------------------------------------------

// The first client of each process.
std::vector<worker_state*> random_run::one_of_each_process() {
  std::map<std::string, worker_state*> first;
  for (auto& worker : workers_)
    first.try_emplace(worker.process, &worker);
  std::vector<worker_state*> all;
  for (const auto& [process, worker] : first)
    all.push_back(worker);
  return all;
}

// Every host hears of every change: each process sets a value, so that its disk has what it refused
// before; then each asks the fleet twice. The first time the fleet gets what it lacks.
void random_run::spread_trees() {
  const auto each = [this](const std::function<void(worker_state&, std::size_t)>& ask) {
    for (auto* worker : one_of_each_process())
      for (std::size_t tree = 0; tree < tree_keys_.size() && result_.violation.empty(); ++tree) {
        ask(*worker, tree);
        answer_all();
      }
    if (has_remote_ && result_.violation.empty()) let_remote_recover();
  };
  each([this](worker_state& worker, std::size_t tree) { set_in_tree(worker, tree, end_path); });
  if (!has_remote_) return;
  const auto ask_fleet = [this](worker_state& worker, std::size_t tree) {
    request<lookup>(
        worker, actor_of<nested_cache_actor>(worker, actor_kind::nested),
        [this, &worker](const expected<lookup>& found) {
          if (!found || found->hit()) violate(worker.name + " found a path that nobody set");
        },
        verb::find_v, tree_keys_[tree], std::string(absent_path));
  };
  each(ask_fleet);
  each(ask_fleet);
}

// Every process finds the same tree, and in it what has reached the server. Without a server each
// host has its own.
void random_run::check_trees() {
  if (is_tight_) return;
  spread_trees();
  is_tree_final_ = is_fleet_whole_ && has_kept_all_of(":nested:");
  for (std::size_t tree = 0; tree < tree_keys_.size(); ++tree) {
    std::map<std::string, std::string> first; // by host; with a server one for all
    for (auto* worker : one_of_each_process()) {
      if (!result_.violation.empty()) return;
      find_tree(*worker, tree);
      answer_all();
      const auto at = first.try_emplace(has_remote_ ? "" : worker->host, last_tree_).first;
      if (at->second != last_tree_)
        violate(worker->name + " has another tree of " + text_of(tree_keys_[tree]) +
                " than the first process");
    }
  }
}

} // namespace hearth::simulation
