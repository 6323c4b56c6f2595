#include "runtime/simulation/simulator/run.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>

namespace hearth::simulation {

// A purge by another host is an erase by this one, from its delivery to a memory shard until all
// shards of the process have carried out their purges.
void random_run::watch_purges() {
  world_.system().set_observer([this](caf::actor_id to, const caf::type_erased_tuple& content) {
    if (content.size() == 2 && content.match_element<verb::purge>(0) &&
        content.match_element<cache_key>(1))
      note_purge(to, content.get_as<cache_key>(1));
  });
}

void random_run::note_purge(caf::actor_id shard, const cache_key& key) {
  const auto at = std::find_if(keys_.begin(), keys_.end(),
                               [&](const key_state& one) { return one.key == key; });
  if (at == keys_.end()) return;
  const auto k = static_cast<std::size_t>(at - keys_.begin());
  for (auto& [name, host] : hosts_)
    for (const auto& process : host.processes)
      for (const auto& one : world_.process(process)->actors_of(actor_kind::memory))
        if (one.id() == shard)
          heard_.push_back({process, name, k, host.histories[k].begin(now(), {}, true)});
}

void random_run::end_purges() {
  std::erase_if(heard_, [&](const heard_purge& one) {
    const auto open = world_.process(one.process)->figure(actor_kind::remote, {}, "purging");
    if (open != 0) return false;
    hosts_.at(one.host).histories[one.k].succeed(one.write, now());
    return true;
  });
}

std::size_t random_run::begin_fleet_write(const worker_state& worker, std::size_t k,
                                          std::string bytes, bool is_purge) {
  fleet_writes_[k].push_back({worker.host, worker.process, std::move(bytes), is_purge, now()});
  const auto write = fleet_writes_[k].size() - 1;
  open_fleet_writes_[worker.process].emplace_back(k, write);
  return write;
}

void random_run::end_fleet_write(std::size_t k, std::size_t write) {
  fleet_writes_[k][write].end = now();
}

void random_run::reach_fleet(const std::string& process) {
  std::erase_if(open_fleet_writes_[process], [&](const auto& place) {
    auto& one = fleet_writes_[place.first][place.second];
    const bool is_acknowledged = one.end != history::never;
    if (is_acknowledged) one.reached = now();
    return is_acknowledged;
  });
}

// What had not reached the server never will, and what was being carried out may have been.
void random_run::purges_die(const std::string& process) {
  for (const auto& [k, write] : open_fleet_writes_[process])
    fleet_writes_[k][write].process.clear();
  open_fleet_writes_.erase(process);
  std::erase_if(heard_, [&](const heard_purge& one) { return one.process == process; });
}

// What was acknowledged after the last flush is uncertain.
void random_run::purges_lose_power(const std::string& host, moment durable) {
  for (auto& [k, writes] : fleet_writes_)
    for (auto& one : writes)
      if (one.host == host && one.end >= durable) one.end = history::never;
}

// A put or erase that was acknowledged on a host holds there from then on, whatever the server had
// before, though it does not answer, or the process ends before the server has heard. Unless the
// server starts empty: then it forgets what came when.
std::string random_run::judge_undone(const worker_state& worker, std::size_t k, moment begun,
                                     std::string_view bytes) const {
  const auto all = fleet_writes_.find(k);
  if (!has_remote_ || server_lost_writes_ || all == fleet_writes_.end()) return {};
  if (damaged_.contains(name_of(keys_[k].key))) return {};
  for (const auto& found : all->second) {
    if (found.bytes != bytes || found.bytes.empty()) continue;
    const auto since = found.is_purge && found.host != worker.host ? found.reached : found.end;
    for (const auto& one : all->second)
      if (one.is_purge && one.host == worker.host && one.end < begun && since < one.start)
        return quoted_text(bytes) + ", which it had " +
               (one.bytes.empty() ? "erased" : "replaced by " + quoted_text(one.bytes));
  }
  return {};
}

// With the server well and every write done, no host serves what another one has replaced or
// removed, and of two puts all hosts serve the same: those whose disk has not refused or lost one.
void random_run::check_purges() {
  if (!is_fleet_whole_) return;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const auto name = name_of(keys_[k].key);
    if (!keys_[k].is_mutable || damaged_.contains(name) || gone_.contains(name)) continue;
    std::pair<std::string, std::string> first; // who found a value that was put, and the value
    for (auto& worker : workers_) {
      if (!result_.violation.empty()) return;
      ask<lookup>(
          worker, owner_of(worker, k),
          [&, k](const expected<lookup>& found) {
            if (!found || !found->hit()) return;
            const auto bytes = found->value.payload();
            judge_purged(worker, k, bytes);
            if (!was_put(k, bytes) || hosts_.at(worker.host).was_torn) return;
            if (first.first.empty()) first = {worker.name, std::string(bytes)};
            if (first.second != bytes)
              violate(worker.name + " got of " + text_of(keys_[k].key) + " " + quoted_text(bytes) +
                      ", and " + first.first + " " + quoted_text(first.second) + ": both were put");
          },
          verb::get_v, keys_[k].key);
      answer_all();
    }
  }
}

bool random_run::was_put(std::size_t k, std::string_view bytes) const {
  const auto all = fleet_writes_.find(k);
  return all != fleet_writes_.end() &&
         std::any_of(all->second.begin(), all->second.end(), [&](const fleet_write& one) {
           return one.is_purge && !one.bytes.empty() && one.bytes == bytes;
         });
}

// An insert is purged by every purge that began after it was acknowledged. Of two puts, and of a
// put and an erase, the one counts that came to the server later.
void random_run::judge_purged(const worker_state& worker, std::size_t k, std::string_view bytes) {
  const auto& writes = fleet_writes_[k];
  for (const auto& found : writes) {
    if (found.bytes != bytes || found.bytes.empty()) continue;
    const auto since = found.is_purge ? found.reached : found.end;
    for (const auto& purge : writes)
      if (purge.is_purge && purge.reached != history::never && since != history::never &&
          purge.start > since)
        violate(worker.name + " got of " + text_of(keys_[k].key) + " " + quoted_text(bytes) +
                ", which " + purge.process + " has purged");
  }
}

} // namespace hearth::simulation
