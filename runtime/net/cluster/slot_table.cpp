#include "runtime/net/cluster/slot_table.hpp"

#include "runtime/net/cluster/cluster_node.hpp"

namespace hearth::net {

void slot_table::note_change() {
  ++epoch_;
  all_ = leaders_;
  const auto by_address = [](const cluster_node* left, const cluster_node* right) {
    return left->address < right->address;
  };
  std::erase(all_, nullptr);
  std::sort(all_.begin(), all_.end());
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  std::sort(all_.begin(), all_.end(), by_address);
}

} // namespace hearth::net
