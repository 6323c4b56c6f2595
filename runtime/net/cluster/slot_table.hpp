// Which node leads which slot, as far as this process knows. Plain state of one thread.
#pragma once

#include "storage/resp/cluster_slots.hpp"

#include <cstdint>
#include <functional>
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

  void assign(std::uint16_t slot, cluster_node* node);
  /// Whether these are the ranges of the last `replace`, and nothing has changed since.
  bool has(const std::vector<storage::slot_range>& ranges) const;
  using node_of = std::function<cluster_node*(const storage::cluster_address&)>;
  /// Slots of no range have no leader. Returns whether anything changed.
  bool replace(std::vector<storage::slot_range> ranges, const node_of& node);

private:
  void note_change();

  std::vector<cluster_node*> leaders_; // by slot; empty: not known yet
  std::vector<cluster_node*> all_;
  std::vector<storage::slot_range> ranges_; // that `leaders_` has; empty: it has more
  std::uint64_t epoch_ = 0;
};

} // namespace hearth::net
