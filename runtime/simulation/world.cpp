#include "runtime/simulation/world.hpp"

#include <utility>

namespace hearth::simulation {
namespace {

// Replaces the random seed of a process.
constexpr std::uint64_t memory_seed = 0x48656172'74680001u;

} // namespace

world::~world() {
  for (auto& [name, one] : clients_)
    kill(one);
  processes_.clear();
  remotes_.clear();
  clusters_.clear();
}

virtual_disk& world::add_host(const std::string& name) {
  return *(disks_[name] = std::make_shared<virtual_disk>());
}

simulated_redis& world::add_remote(const std::string& name) {
  return *(remotes_[name] = std::make_shared<simulated_redis>(system_, name));
}

simulated_cluster& world::add_cluster(const std::string& name, std::size_t groups) {
  return *(clusters_[name] = std::make_shared<simulated_cluster>(system_, name, groups));
}

std::vector<simulated_redis*> world::servers(const std::string& name,
                                             std::optional<std::size_t> node) {
  if (const auto at = remotes_.find(name); at != remotes_.end()) {
    if (node) return {};
    return {at->second.get()};
  }
  auto& all = cluster(name);
  std::vector<simulated_redis*> found;
  for (std::size_t i = 0; i < all.nodes(); ++i)
    if (!node || *node == i) found.push_back(&all.node(i));
  return found;
}

simulated_redis& world::server_of(const std::string& name, std::string_view entry) {
  const auto at = clusters_.find(name);
  return at == clusters_.end() ? remote(name) : at->second->leader_of(entry);
}

storage::remote_naming world::naming_of(const std::string& server) const {
  storage::remote_naming made;
  made.has_hash_tags = clusters_.contains(server);
  return made;
}

server_connector world::connector_to(const std::string& server) {
  if (const auto at = clusters_.find(server); at != clusters_.end())
    return [cluster = at->second](const std::string& process) { return cluster->connect(process); };
  return [one = remotes_.at(server)](const std::string&) { return one->connect(); };
}

simulated_process& world::add_process(const std::string& name, const std::string& host,
                                      process_options options) {
  hosts_[name] = host;
  std::vector<server_connector> connect;
  const auto add = [&](remote_options& one) {
    connect.push_back(connector_to(one.server));
    one.naming = naming_of(one.server);
  };
  if (!options.remote.server.empty()) add(options.remote);
  for (auto& one : options.farther)
    add(one);
  options.cache_of = [this](const cache_id& id) { return *cache(id.name(), id.version()); };
  auto& made = processes_[name] = std::make_unique<simulated_process>(
      system_, name, std::move(options), disks_.at(host), std::move(connect));
  start(*made);
  return *made;
}

client& world::add_client(const std::string& name, const std::string& process) {
  auto& made = clients_[name];
  made.name = name;
  made.process = process;
  spawn(made);
  return made;
}

void world::spawn(client& one) {
  one.actor = system_.actors().spawn(
      [](caf::event_based_actor* self, client* into) {
        into->self = self;
        return caf::behavior{[](verb::clear) {}};
      },
      &one);
  system_.enlist(one.actor, one.name);
}

simulated_process* world::process(std::string_view name) {
  const auto at = processes_.find(name);
  return at == processes_.end() ? nullptr : at->second.get();
}

client* world::find_client(std::string_view name) {
  const auto at = clients_.find(name);
  return at == clients_.end() ? nullptr : &at->second;
}

void world::set_cache(const std::string& name, const std::string& version, const cache_use& use) {
  auto id = cache_id::make(name, version);
  if (!id) return;
  const auto number = static_cast<std::uint32_t>(caches_.size());
  const auto seed = id->seed() ^ memory_seed;
  named_cache made{std::move(*id), number, seed, use.memory, use.disk, use.remote};
  made.sign = use.sign;
  caches_[{name, version}] = std::make_shared<const named_cache>(std::move(made));
}

expected<named_cache_ptr> world::cache(const std::string& name, const std::string& version) {
  const auto at = caches_.find({name, version});
  if (at != caches_.end()) return at->second;
  if (const auto id = cache_id::make(name, version); !id) return fail(id.error());
  set_cache(name, version, {});
  return caches_.at({name, version});
}

// --- events ------------------------------------------------------------------------------------

void world::start(simulated_process& process) {
  process.start();
  system_.set_cost([this](caf::actor_id id, const caf::type_erased_tuple& content) {
    if (content.size() < 2 || !content.match_element<action_request>(1))
      return std::chrono::nanoseconds(0);
    for (const auto& [name, one] : processes_)
      for (const auto& worker : one->actors_of(actor_kind::worker))
        if (worker.id() == id) return one->compiler().begin(content.get_as<action_request>(1));
    return std::chrono::nanoseconds(0);
  });
}

void world::revive_clients(const simulated_process& process) {
  for (auto& [name, one] : clients_)
    if (one.process == process.name() && !one.is_alive()) spawn(one);
}

void world::kill(client& one) {
  if (!one.is_alive()) return;
  const auto actor = std::exchange(one.actor, nullptr);
  one.self = nullptr;
  system_.kill({actor});
}

void world::end_clients_of(const std::string& process) {
  for (auto& [name, one] : clients_)
    if (one.process == process) kill(one);
}

bool world::stop(simulated_process& process) { return process.stop(); }

void world::kill(simulated_process& process) {
  end_clients_of(process.name());
  process.kill();
}

void world::kill_host(const std::string& host) {
  for (const auto& [name, process] : processes_)
    if (hosts_.at(name) == host) kill(*process);
}

void world::lose_power(const std::string& host, random_source& random) {
  system_.note(host + " loses power");
  kill_host(host);
  disks_.at(host)->lose_power(random);
}

} // namespace hearth::simulation
