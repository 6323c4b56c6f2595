// Commands to a Redis Cluster. Learns which node leads which slot from any node that answers, sends
// each command to the leader of its name's slot, and follows MOVED and ASK. Each node has its own
// connections and its own breaker: while it is ill, what is read from it fails at once and what is
// written waits for its deadline, and all other nodes are used as before.
//
// A failure of one node is told as `remote_failure::node` as long as another node is well.
#pragma once

#include "runtime/net/cluster/cluster_loop.hpp"
#include "runtime/net/cluster/cluster_node.hpp"
#include "runtime/net/cluster/slot_table.hpp"
#include "runtime/net/cluster/write_order.hpp"
#include "runtime/net/command_router.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hearth::net {

struct cluster_settings {
  std::vector<storage::cluster_address> hosts;  ///< some of the nodes, to begin with
  std::uint64_t jitter_seed = 0;                ///< of the pauses before a node is tried again
  std::uint64_t max_waiting_bytes = 256u << 20; ///< bound on the commands that wait for a node
};

class cluster_router final : public command_router {
public:
  cluster_router(cluster_settings settings, std::unique_ptr<cluster_loop> loop);
  cluster_router(const cluster_router&) = delete;
  cluster_router& operator=(const cluster_router&) = delete;

  void add(actors::remote_client::lane by, remote_command command, time_point now) override;
  void flush() override;
  void hurry(bool on) override;
  void fail_all(const connection_problem& why) override;
  void close(const connection_problem& why) override;

  /// Whether the slots are known, all nodes that lead some are well, and no command is held back.
  bool is_well() const;

private:
  cluster_node& node_at(const storage::cluster_address& address);

  // Routing.
  void route(const request_ptr& request);
  void route_nameless(const request_ptr& request);
  void route_scan(const request_ptr& request);
  void send(cluster_node& node, const request_ptr& request, bool asks = false);
  using reply_callback = actors::remote_client::reply_callback;
  void send_as(cluster_node& node, const request_ptr& request,
               actors::remote_client::command arguments, reply_callback next);
  void send_own(cluster_node& node, actors::remote_client::command arguments, reply_callback next);
  void add_to(cluster_node& node, actors::remote_client::lane by, remote_command command,
              time_point now, reply_callback next);
  void take(cluster_node& node, const request_ptr& request, actors::remote_reply reply);
  bool may_ask_another(const cluster_node& node, cluster_request& request,
                       const actors::remote_reply& reply) const;
  bool go_elsewhere(cluster_node& node, const request_ptr& request, std::string_view error);
  void finish(const request_ptr& request, actors::remote_reply reply);
  void fail(const request_ptr& request, connection_problem why);
  void hold(std::deque<request_ptr>& where, const request_ptr& request);
  void route_held();
  std::vector<request_ptr> take_held(const std::function<bool(const cluster_request&)>& which);
  void note_held_slots();
  void drop_overtaken(const cluster_request& by, const actors::remote_reply& reply);
  bool has_to_be_repeated(const cluster_request& write, const actors::remote_reply& reply) const;
  connection_problem why_held(const cluster_request& request) const;
  bool is_refused(const cluster_request& write) const;

  // Health.
  void note_reply(cluster_node& node, const actors::remote_reply& reply);
  void note_failure(cluster_node& node, const actors::remote_reply& reply);
  void note_answer(cluster_node& node);
  void probe(cluster_node& node);
  bool is_another_well(const cluster_node& than) const;
  bool takes_another_writes(const cluster_node& than) const;
  bool has_to_wait(const cluster_node& leader, const cluster_request& write) const;
  bool take_write_reply(cluster_node& node, const cluster_request& write,
                        const actors::remote_reply& reply);
  void rest_writes(cluster_node& node);

  // The table of slots.
  void want_table();
  void ask_for_table();
  void ask_next(const actors::remote_reply& last);
  void take_table(cluster_node& node, const actors::remote_reply& reply);
  void give_up_table(const actors::remote_reply& why);
  void drop_gone_nodes();
  void end_scans(const actors::remote_reply* failed);

  // Time.
  void wake_at(time_point when);
  void wake();
  void drop_expired(std::deque<request_ptr>& held, time_point now);
  void flush_later();

  const cluster_settings settings_;
  const std::unique_ptr<cluster_loop> loop_;
  std::map<storage::cluster_address, std::unique_ptr<cluster_node>> nodes_;
  std::uint64_t made_nodes_ = 0;
  slot_table table_;
  write_order order_;
  std::deque<request_ptr> unrouted_;   // until the table is known
  std::deque<request_ptr> held_;       // writes, until their node is well or another leads the slot
  std::set<std::uint16_t> held_slots_; // of `held_`
  std::uint64_t held_bytes_ = 0;       // of both
  std::uint64_t last_request_ = 0;
  std::size_t next_nameless_ = 0;
  bool wants_table_ = false;
  bool asks_for_table_ = false;
  std::vector<cluster_node*> to_ask_; // for the table, the next one last
  using scan_end = std::function<void(const actors::remote_reply* failed)>;
  std::vector<scan_end> ending_scans_;  // wait for a table that is asked for from now on
  std::vector<scan_end> awaited_scans_; // wait for the table that is asked for
  time_point table_at_{};               // not asked for again before
  time_point held_at_ = time_point::max();
  time_point forget_at_ = time_point::max(); // when nodes that have left are forgotten
  time_point wakes_at_ = time_point::max();
  bool flush_is_due_ = false;
  bool is_taking_ = false; // in `add`, behind which `flush` is called
  bool is_closed_ = false;
  bool is_hurried_ = false; // what its node refuses is not held
  connection_problem closed_why_;
};

} // namespace hearth::net
