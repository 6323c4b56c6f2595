#include "runtime/simulation/simulator/run.hpp"

namespace hearth::simulation {

// Something happens to the cluster: nothing that is lost (slots move, a replica is told to lead),
// or trouble, which gets worse or ends.
void random_run::trouble_cluster() {
  auto& cluster = world_.cluster(shared_server);
  if (remote_has_trouble_) return random_.one_in(2) ? worsen_cluster() : end_trouble();
  const auto group = random_.below(cluster.groups());
  switch (random_.below(4)) {
  case 0:
    world_.system().note("slots move");
    return cluster.move_slots(random_.below(simulated_cluster::parts), group);
  case 1: world_.system().note("a replica is told to lead"); return cluster.fail_over(group, false);
  case 2: ill_group_ = group; return split_cluster();
  default: break;
  }
  remote_has_trouble_ = may_be_replaced_ = true;
  ill_group_ = group;
  world_.system().note("a master is in trouble");
  cluster.leader(group).behave(any_behavior(random_));
}

// A master and some processes are apart from all others.
void random_run::split_cluster() {
  std::set<std::string> apart;
  for (const auto& [name, process] : world_.processes())
    if (random_.one_in(2)) apart.insert(name);
  world_.system().note("the cluster is split");
  remote_has_trouble_ = is_split_ = may_be_replaced_ = true;
  world_.cluster(shared_server).split(ill_group_, std::move(apart));
}

// The replica leads, another node gets into trouble, or the minority stops.
void random_run::worsen_cluster() {
  auto& cluster = world_.cluster(shared_server);
  if (may_be_replaced_ && random_.one_in(2)) return let_replica_lead();
  if (is_split_ && random_.one_in(2)) {
    world_.system().note("the minority stops");
    return cluster.stop_minority();
  }
  world_.system().note("another master is in trouble");
  any_server().behave(any_behavior(random_));
}

// What a master got last may not have reached its replica. In a split nothing reaches it.
void random_run::let_replica_lead() {
  const bool loses = is_split_ || random_.one_in(2);
  world_.system().note(loses ? "a replica leads that lacks what is recent" : "a replica leads");
  may_be_replaced_ = false;
  world_.cluster(shared_server).fail_over(ill_group_, loses);
  if (!loses) return;
  server_lost_writes_ = true;
  doubt_leases_until(world_.system().now() + 2 * lease_time);
}

} // namespace hearth::simulation
