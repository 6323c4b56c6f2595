#include "runtime/net/cluster/slot_table.hpp"

#include "runtime/net/cluster/cluster_node.hpp"

#include <algorithm>
#include <utility>

namespace hearth::net {

void slot_table::assign(std::uint16_t slot, cluster_node* node) {
  if (leaders_[slot] == node) return;
  leaders_[slot] = node;
  ranges_.clear();
  note_change();
}

bool slot_table::has(const std::vector<storage::slot_range>& ranges) const {
  return is_known() && ranges == ranges_;
}

bool slot_table::replace(std::vector<storage::slot_range> ranges, const node_of& node) {
  std::vector<cluster_node*> leaders(storage::cluster_slots);
  for (const auto& range : ranges)
    std::fill(leaders.begin() + range.first, leaders.begin() + range.last + 1, node(range.leader));
  ranges_ = std::move(ranges);
  if (leaders == leaders_) return false;
  leaders_ = std::move(leaders);
  note_change();
  return true;
}

void slot_table::note_change() {
  ++epoch_;
  all_.clear();
  const cluster_node* last = nullptr; // most slots have the leader of the one before
  for (auto* const leader : leaders_) {
    if (leader == last) continue;
    last = leader;
    if (leader && std::find(all_.begin(), all_.end(), leader) == all_.end()) all_.push_back(leader);
  }
  std::sort(all_.begin(), all_.end(), [](const cluster_node* left, const cluster_node* right) {
    return left->address < right->address;
  });
}

} // namespace hearth::net
