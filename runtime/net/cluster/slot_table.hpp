// Which node leads which slot, as far as this process knows. Plain state of one thread.
#pragma once

#include "storage/resp/cluster_slots.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace hearth::net {

struct cluster_node;

class slot_table {
public:
  bool is_known() const noexcept { return !leaders_.empty(); }
  /// Null: nobody leads it.
  cluster_node* leader_of(std::uint16_t slot) const { return leaders_[slot]; }
  /// The nodes that lead slots, in the order of their addresses.
  const std::vector<cluster_node*>& leaders() const noexcept { return all_; }
  /// Counts the changes.
  std::uint64_t epoch() const noexcept { return epoch_; }

  void assign(std::uint16_t slot, cluster_node* node) {
    if (leaders_[slot] == node) return;
    leaders_[slot] = node;
    note_change();
  }
  /// `leaders`: by slot. Returns whether anything changed.
  bool replace(std::vector<cluster_node*> leaders) {
    if (leaders == leaders_) return false;
    leaders_ = std::move(leaders);
    note_change();
    return true;
  }

private:
  void note_change();

  std::vector<cluster_node*> leaders_; // by slot; empty: not known yet
  std::vector<cluster_node*> all_;
  std::uint64_t epoch_ = 0;
};

} // namespace hearth::net
