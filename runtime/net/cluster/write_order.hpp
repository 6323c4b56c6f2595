// The order of writes to a cluster. A single server carries out what one connection brings in
// order; a cluster does not, so a write waits for an earlier one in two cases:
//  * Writes that were sent together are carried out in their order, whichever nodes they go to: a
//    purge is logged after the entry is marked.
//  * Writes of one slot are carried out in their order, also while the slot moves to another node.
// Lives on the connections' thread. Sends nothing itself.
#pragma once

#include "runtime/net/remote_command.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace hearth::net {

/// Writes that were sent together.
struct write_batch {
  /// What identifies them, after it has ended too.
  std::weak_ptr<const actors::remote_client::replies_callback> sent_together;
  std::optional<std::uint16_t> slot; ///< of those that are open
  std::size_t open = 0;
};

/// A caller's command to a cluster.
struct cluster_request {
  actors::remote_client::lane by = actors::remote_client::lane::reads;
  remote_command command;                   ///< keeps its arguments: it may be sent again
  std::optional<std::uint16_t> slot;        ///< nothing: it names no entry
  std::uint64_t number = 0;                 ///< a later one has a higher
  remote_command::clock::time_point sent{}; ///< the last time
  bool was_held = false;                    ///< it was kept back for its node
  unsigned redirects = 0;
  std::shared_ptr<write_batch> batch; ///< of a write
};
using request_ptr = std::shared_ptr<cluster_request>;

class write_order {
public:
  /// Whether a new write may go now; otherwise it is kept until `leave_batch` returns it.
  bool enter_batch(const request_ptr& write);
  /// A write has ended. Returns those sent together with it that may go now, and have entered. If
  /// it was lost on its way (`is_lost`), they have to be lost too: they were behind it.
  std::vector<request_ptr> leave_batch(const cluster_request& write, bool is_lost);

  /// Whether a write of a slot may go to the node of this number now; otherwise it is kept until
  /// `leave_slot` returns it.
  bool enter_slot(const request_ptr& write, std::uint64_t node);
  /// Whether a later write of this one's slot has entered and is not answered: it could overtake
  /// it.
  bool is_overtaken(const cluster_request& write) const;
  /// A write that entered is answered, or not on its way any more. Returns those of its slot that
  /// may enter now.
  std::vector<request_ptr> leave_slot(std::uint16_t slot);

  /// Takes everything that is kept, the earliest first.
  std::vector<request_ptr> take_all();

private:
  struct slot_writes {
    std::uint64_t node = 0;
    std::size_t open = 0;
    std::uint64_t latest = 0; // number of those that are open
    std::deque<request_ptr> waiting;
  };

  std::shared_ptr<write_batch> newest_;
  std::unordered_map<const write_batch*, std::deque<request_ptr>> waiting_; // by their batches
  std::unordered_map<std::uint16_t, slot_writes> slots_;
};

} // namespace hearth::net
