#include "runtime/simulation/simulated_cluster.hpp"

#include "messages/hash.hpp"
#include "runtime/net/cluster/cluster_router.hpp"
#include "runtime/simulation/reply_values.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace hearth::simulation {
namespace {

using actors::remote_client;
using actors::remote_failure;
using actors::remote_reply;
using net::command_router;
using net::remote_command;
using storage::resp_value;
using time_point = command_router::time_point;

constexpr std::uint16_t first_port = 7000;

// The way of a process to one node.
class node_way final : public command_router {
public:
  node_way(stepped_system& system, std::shared_ptr<simulated_redis::connection> connection)
      : system_(system)
      , connection_(std::move(connection)) {}

  void add(remote_client::lane by, remote_command command, time_point) override {
    const auto left = command.deadline - time_point(system_.now());
    const auto deadline = std::chrono::ceil<std::chrono::milliseconds>(left);
    auto arguments = std::exchange(command.arguments, {});
    connection_->send(by, std::move(arguments), deadline,
                      [command = std::move(command)](remote_reply reply) mutable {
                        command.answer(std::move(reply));
                      });
  }
  void flush() override {}
  void fail_all(const net::connection_problem& why) override { close(why); }
  void close(const net::connection_problem&) override { connection_->close(); }

private:
  stepped_system& system_;
  std::shared_ptr<simulated_redis::connection> connection_;
};

} // namespace

// --- clients -----------------------------------------------------------------------------------

class simulated_cluster::client final : public remote_connection {
public:
  client(simulated_cluster& cluster, std::string process)
      : cluster_(cluster)
      , process_(std::move(process)) {
    net::cluster_settings settings;
    for (std::size_t node = 0; node < cluster_.nodes_.size();
         node += simulated_cluster::nodes_of_group)
      settings.hosts.push_back(address_of(node));
    settings.jitter_seed = fast_hash(process_);
    router_ =
        std::make_unique<net::cluster_router>(std::move(settings), std::make_unique<loop>(*this));
    cluster_.clients_.push_back(this);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() override { end(); }

  void send_all(lane by, std::vector<command> commands, std::chrono::milliseconds deadline,
                replies_callback answered) override {
    const auto told = std::make_shared<const replies_callback>(std::move(answered));
    const time_point now(cluster_.system_.now());
    for (std::size_t i = 0; i < commands.size(); ++i) {
      remote_command one{{}, now + deadline, deadline, told, i};
      for (const auto& word : commands[i])
        one.bytes += word.size();
      one.arguments = std::move(commands[i]);
      if (router_)
        router_->add(by, std::move(one), now);
      else
        one.answer({remote_failure::closed, "the connection is closed", {}});
    }
    if (router_) router_->flush();
  }
  void hurry(bool on) override {
    if (router_) router_->hurry(on);
  }
  void close() override {
    if (router_) router_->close({remote_failure::closed, "the connection is closed"});
    end();
  }
  void die() override {
    for (const auto& [node, way] : ways_)
      way->die();
    end();
  }
  void cut_off(bool is_cut) override {
    is_cut_off_ = is_cut;
    update_ways();
  }

  void update_ways() {
    for (const auto& [node, way] : ways_)
      way->cut_off(is_cut_off_ || !cluster_.can_reach(process_, node));
  }
  bool is_well() const { return !router_ || router_->is_well(); }

private:
  // The router's time and its ways to nodes.
  class loop final : public net::cluster_loop {
  public:
    explicit loop(client& owner)
        : owner_(owner) {}
    ~loop() override {
      stop();
      for (const auto number : posted_)
        owner_.cluster_.tasks_.erase(number);
    }
    time_point now() const override { return time_point(owner_.cluster_.system_.now()); }
    void wake_at(time_point when, std::function<void()> wake) override {
      stop();
      timer_ =
          owner_.cluster_.later(std::max(when - now(), time_point::duration(0)), std::move(wake));
    }
    void post(std::function<void()> task) override {
      std::erase_if(posted_, [&](auto number) { return !owner_.cluster_.tasks_.contains(number); });
      posted_.insert(owner_.cluster_.later(std::chrono::nanoseconds(0), std::move(task)));
    }
    void stop() override { owner_.cluster_.tasks_.erase(timer_); }
    std::unique_ptr<command_router> connect(const storage::cluster_address& address) override {
      const std::size_t node = address.port - first_port;
      auto way = owner_.cluster_.nodes_.at(node)->connect();
      owner_.ways_[node] = way;
      owner_.update_ways();
      return std::make_unique<node_way>(owner_.cluster_.system_, std::move(way));
    }

  private:
    client& owner_;
    std::uint64_t timer_ = 0;
    std::set<std::uint64_t> posted_;
  };

  void end() {
    router_.reset();
    ways_.clear();
    std::erase(cluster_.clients_, this);
  }

  simulated_cluster& cluster_;
  const std::string process_;
  std::map<std::size_t, std::shared_ptr<simulated_redis::connection>> ways_; // by node
  bool is_cut_off_ = false;
  std::unique_ptr<net::cluster_router> router_; // null: closed
};

// --- nodes and timers --------------------------------------------------------------------------

simulated_cluster::simulated_cluster(stepped_system& system, const std::string& name,
                                     std::size_t groups)
    : system_(system)
    , timer_(system.actors().spawn(
          [](caf::event_based_actor*, simulated_cluster* cluster) {
            return caf::behavior{[cluster](verb::finish, std::uint64_t n) { cluster->run(n); }};
          },
          this)) {
  system_.enlist(timer_, name);
  for (std::size_t group = 0; group < groups; ++group)
    now_.leaders.push_back(nodes_of_group * group);
  for (std::size_t part = 0; part < parts; ++part)
    now_.owners.push_back(part * groups / parts);
  for (std::size_t node = 0; node < nodes_of_group * groups; ++node) {
    nodes_.push_back(
        std::make_unique<simulated_redis>(system_, name + "[" + std::to_string(node) + "]"));
    nodes_.back()->ask_first(
        [this, node](const remote_client::command& arguments) { return answer(node, arguments); });
  }
}

simulated_cluster::~simulated_cluster() { system_.kill({timer_}); }

std::shared_ptr<remote_connection> simulated_cluster::connect(const std::string& process) {
  return std::make_shared<client>(*this, process);
}

std::uint64_t simulated_cluster::later(std::chrono::nanoseconds wait, std::function<void()> what) {
  const auto number = ++last_task_;
  tasks_.emplace(number, std::move(what));
  if (wait.count() == 0)
    caf::anon_send(timer_, verb::finish_v, number);
  else
    caf::delayed_anon_send(timer_, std::chrono::ceil<std::chrono::microseconds>(wait),
                           verb::finish_v, number);
  return number;
}

void simulated_cluster::run(std::uint64_t number) {
  if (auto task = tasks_.extract(number); !task.empty()) task.mapped()();
}

bool simulated_cluster::is_well_for_all() const {
  return std::all_of(clients_.begin(), clients_.end(),
                     [](const client* one) { return one->is_well(); }) &&
         std::none_of(nodes_.begin(), nodes_.end(),
                      [](const auto& node) { return node->owes_answers(); });
}

// --- who leads what ----------------------------------------------------------------------------

std::size_t simulated_cluster::part_of(std::uint16_t slot) {
  return std::size_t{slot} * parts / storage::cluster_slots;
}

storage::cluster_address simulated_cluster::address_of(std::size_t node) {
  return {"node", static_cast<std::uint16_t>(first_port + node)};
}

const simulated_cluster::view& simulated_cluster::view_of(std::size_t node) const {
  return is_apart(node) ? apart_->known : now_;
}

std::size_t simulated_cluster::part_of(std::string_view name) {
  return part_of(storage::slot_of(name));
}

simulated_redis& simulated_cluster::leader_of(std::string_view name) {
  return leader(now_.owners[part_of(name)]);
}

// The reply to CLUSTER SLOTS, and what a node says of slots that it does not serve.
std::optional<remote_reply>
simulated_cluster::answer(std::size_t node, const remote_client::command& arguments) const {
  const auto& known = view_of(node);
  if (arguments[0] == "CLUSTER") return slots_reply(known);
  const auto name = storage::name_in(arguments);
  if (!name) return std::nullopt;
  const auto slot = storage::slot_of(*name);
  const auto leader = known.leaders[known.owners[part_of(slot)]];
  if (is_apart(node) && apart_->is_stopped)
    return simulated_redis::error_reply("CLUSTERDOWN The cluster is down");
  if (leader == node) return std::nullopt;
  return simulated_redis::error_reply("MOVED " + std::to_string(slot) + " " +
                                      storage::to_string(address_of(leader)));
}

remote_reply simulated_cluster::slots_reply(const view& known) const {
  std::vector<resp_value> ranges;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto address = address_of(known.leaders[known.owners[part]]);
    const auto first = static_cast<std::int64_t>(part * storage::cluster_slots / parts);
    const auto end = static_cast<std::int64_t>((part + 1) * storage::cluster_slots / parts);
    ranges.push_back(array_value({integer_value(first), integer_value(end - 1),
                                  array_value({bytes_value(address.host),
                                               integer_value(address.port), bytes_value("id")})}));
  }
  remote_reply made;
  made.value = array_value(std::move(ranges));
  return made;
}

// Nodes look again at what waits: they may not lead it any more.
void simulated_cluster::tell_nodes() {
  for (const auto& node : nodes_)
    node->look_again();
}

void simulated_cluster::fail_over(std::size_t group, bool loses_what_is_recent) {
  auto& leads = now_.leaders[group];
  const auto next = leads % nodes_of_group == 0 ? leads + 1 : leads - 1;
  const bool keeps_its_own = is_apart(leads); // it goes on by itself, until the split ends
  if (keeps_its_own)
    nodes_[next]->take_saved(*nodes_[leads]);
  else
    nodes_[next]->take_over(*nodes_[leads], loses_what_is_recent);
  leads = next;
  tell_nodes();
}

void simulated_cluster::move_slots(std::size_t part, std::size_t to_group) {
  auto& owner = now_.owners[part];
  if (owner == to_group) return;
  leader(to_group).take_names(leader(owner),
                              [part](const std::string& name) { return part_of(name) == part; });
  owner = to_group;
  tell_nodes();
}

// --- a split -----------------------------------------------------------------------------------

bool simulated_cluster::can_reach(const std::string& process, std::size_t node) const {
  return !apart_ || apart_->processes.contains(process) == is_apart(node);
}

void simulated_cluster::update_ways() {
  for (auto* one : clients_)
    one->update_ways();
}

void simulated_cluster::split(std::size_t group, std::set<std::string> processes) {
  const auto node = now_.leaders[group];
  nodes_[node]->save();
  apart_ = minority{node, std::move(processes), now_};
  update_ways();
}

void simulated_cluster::stop_minority() {
  apart_->is_stopped = true;
  tell_nodes();
}

void simulated_cluster::join() {
  if (!apart_) return;
  const auto node = apart_->node;
  const bool leads = std::count(now_.leaders.begin(), now_.leaders.end(), node) != 0;
  apart_.reset();
  if (!leads) nodes_[node]->forget_all();
  tell_nodes();
  update_ways();
}

} // namespace hearth::simulation
