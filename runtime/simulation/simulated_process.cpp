#include "runtime/simulation/simulated_process.hpp"

#include "actors/autotune_bundler.hpp"
#include "actors/compile_broker.hpp"
#include "actors/disk_shard.hpp"
#include "actors/kernel_tuner.hpp"
#include "actors/memory_shard.hpp"
#include "messages/hash.hpp"
#include "runtime/simulation/text.hpp"
#include "runtime/wiring/ending.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace hearth::simulation {
namespace {

constexpr std::chrono::seconds shutdown_deadline{10};

template <class Handle, class State>
const State* state_of(const caf::actor& actor) {
  using pointer = typename Handle::template stateful_pointer<State>;
  auto* stateful = dynamic_cast<pointer>(caf::actor_cast<caf::abstract_actor*>(actor));
  return stateful ? &stateful->state : nullptr;
}

std::optional<std::uint64_t> memory_figure(const actors::memory_shard_state& state,
                                           std::string_view name) {
  const auto counts = actors::stats_of(state);
  for (const auto& [counted, count] : memory_count_names)
    if (counted == name) return counts.*count;
  const std::map<std::string_view, std::uint64_t> figures{
      {"hits", counts.hits},
      {"misses", counts.misses},
      {"leases", state.leases.size()},
      {"loading", state.loads.size()},
      {"monitored", state.monitored.size()},
      {"unwritten_members", state.unwritten_members.size()},
  };
  const auto at = figures.find(name);
  return at == figures.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::uint64_t> broker_figure(const actors::compile_broker_state& state,
                                           std::string_view name) {
  std::uint64_t queued = state.trials.size();
  for (const auto& [priority, queue] : state.programs)
    queued += queue.size();
  const std::map<std::string_view, std::uint64_t> figures{
      {"runs", state.counters.runs},         {"trials", state.counters.trials},
      {"failures", state.counters.failures}, {"max_at_once", state.counters.max_at_once},
      {"idle", state.idle.size()},           {"queued", queued},
  };
  const auto at = figures.find(name);
  return at == figures.end() ? std::nullopt : std::optional(at->second);
}

using remote_state = actors::remote_tier_state;

template <auto Member>
std::uint64_t sum_of(const remote_state& state) {
  std::uint64_t sum = 0;
  for (const auto& [number, one] : state.caches)
    sum += one.*Member;
  return sum;
}

std::uint64_t sum_of_failures(const remote_state& state) {
  std::uint64_t sum = 0;
  for (const auto& [number, one] : state.caches)
    for (const auto& [reason, count] : one.failures)
      sum += count;
  return sum;
}

std::uint64_t sum_of_purges(const remote_state& state) {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : state.log.purging)
    sum += count;
  return sum;
}

template <auto Member>
std::uint64_t counter_of(const remote_state& state) {
  return state.counters.*Member;
}

// Asked for very often: nothing is computed but the figure itself.
struct remote_figure_name {
  std::string_view name;
  std::uint64_t (*figure)(const remote_state&);
};
constexpr remote_figure_name remote_figures[] = {
    {"hits", sum_of<&remote_cache_counts::hits>},
    {"misses", sum_of<&remote_cache_counts::misses>},
    {"puts", sum_of<&remote_cache_counts::puts>},
    {"existed", sum_of<&remote_cache_counts::existed>},
    {"skipped", sum_of<&remote_cache_counts::skipped>},
    {"lost", sum_of<&remote_cache_counts::lost>},
    {"failures", sum_of_failures},
    {"closed", [](const auto& s) -> std::uint64_t { return s.service.is_closed(); }},
    {"openings", [](const auto& s) -> std::uint64_t { return s.service.openings(); }},
    {"writes_closed", [](const auto& s) -> std::uint64_t { return s.writing.is_closed(); }},
    {"waiting", [](const auto& s) -> std::uint64_t { return s.writes.waiting(); }},
    {"in_flight", [](const auto& s) -> std::uint64_t { return s.writes.in_flight(); }},
    {"bytes", [](const auto& s) -> std::uint64_t { return s.writes.bytes(); }},
    {"open_commands", [](const auto& s) -> std::uint64_t { return s.open_commands(); }},
    {"leases_held", [](const auto& s) -> std::uint64_t { return s.leases.size(); }},
    {"leases_granted", counter_of<&remote_tier_stats::leases_granted>},
    {"leases_elsewhere", counter_of<&remote_tier_stats::leases_elsewhere>},
    {"leases_unavailable", counter_of<&remote_tier_stats::leases_unavailable>},
    {"leases_lost", counter_of<&remote_tier_stats::leases_lost>},
    {"leases_endless", counter_of<&remote_tier_stats::leases_endless>},
    {"dropped", counter_of<&remote_tier_stats::dropped>},
    {"purges_heard", counter_of<&remote_tier_stats::purges_heard>},
    {"purging", sum_of_purges},
    {"unheard", [](const auto& s) -> std::uint64_t { return s.unheard.open(); }},
    {"hears", [](const auto& s) -> std::uint64_t { return s.log.is_read && s.log.is_waiting; }},
};

// How often an operation failed for this reason, in all caches; nothing if there is no such reason.
std::optional<std::uint64_t> failures_of(const remote_state& state, std::string_view reason) {
  constexpr std::array<std::string_view, 13> reasons{
      "unreachable", "untrusted", "denied",   "timeout", "cut",     "garbage",  "refused",
      "malformed",   "damaged",   "unsigned", "forged",  "dropped", "too_large"};
  if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) return std::nullopt;
  std::uint64_t sum = 0;
  for (const auto& [number, one] : state.caches)
    if (const auto at = one.failures.find(reason); at != one.failures.end()) sum += at->second;
  return sum;
}

std::optional<std::uint64_t> remote_figure(const remote_state& state, std::string_view name) {
  for (const auto& one : remote_figures)
    if (one.name == name) return one.figure(state);
  return failures_of(state, name);
}

std::optional<std::uint64_t> figure_of(actor_kind kind, const caf::actor& actor,
                                       std::string_view name) {
  if (kind == actor_kind::memory) {
    const auto* state = state_of<memory_shard_actor, actors::memory_shard_state>(actor);
    return state ? memory_figure(*state, name) : std::nullopt;
  }
  if (kind == actor_kind::disk && name == "pending") {
    const auto* state = state_of<disk_shard_actor, actors::disk_shard_state>(actor);
    return state ? std::optional<std::uint64_t>(state->pending.size()) : std::nullopt;
  }
  if (kind == actor_kind::remote) {
    const auto* state = state_of<remote_tier_actor, actors::remote_tier_state>(actor);
    return state ? remote_figure(*state, name) : std::nullopt;
  }
  if (kind == actor_kind::broker) {
    const auto* state = state_of<compile_broker_actor, actors::compile_broker_state>(actor);
    return state ? broker_figure(*state, name) : std::nullopt;
  }
  if (kind == actor_kind::tuner) {
    const auto* state = state_of<kernel_tuner_actor, actors::kernel_tuner_state>(actor);
    if (state && name == "active") return state->jobs.size();
    if (state && name == "waiting") return state->waiting.size();
  }
  if (kind == actor_kind::bundler && name == "sessions") {
    const auto* state = state_of<autotune_bundler_actor, actors::autotune_bundler_state>(actor);
    return state ? std::optional<std::uint64_t>(state->sessions.size()) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace

simulated_process::simulated_process(stepped_system& system, std::string name,
                                     process_options options, std::shared_ptr<virtual_disk> disk,
                                     std::vector<server_connector> connect)
    : system_(system)
    , name_(std::move(name))
    , options_(std::move(options))
    , disk_(std::move(disk))
    , connect_(std::move(connect)) {}

simulated_process::~simulated_process() { kill(); }

// --- start -------------------------------------------------------------------------------------

template <class Handle>
void simulated_process::enlist(actor_kind kind, const Handle& actor) {
  auto& all = actors_[kind];
  const auto plain = caf::actor_cast<caf::actor>(actor);
  const bool is_one_of_many = kind == actor_kind::memory || kind == actor_kind::disk ||
                              kind == actor_kind::worker ||
                              (kind == actor_kind::remote && !tiers_.remotes.empty());
  auto text = name_ + "." + std::string(to_string(kind));
  if (is_one_of_many) text += "[" + std::to_string(all.size()) + "]";
  system_.enlist(plain, std::move(text));
  all.push_back(plain);
}

actors::log_sink simulated_process::log_sink() {
  return [this](log_level, std::string_view text) {
    log_.emplace_back(text);
    system_.note(name_ + " logs: " + std::string(text));
  };
}

void simulated_process::start() {
  if (running_) return;
  running_ = true;
  files_ = std::make_unique<process_files>(disk_);
  if (options_.disk) open_store();
  start_tiers();
  start_services();
}

void simulated_process::open_store() {
  storage::store_options options;
  options.directory = "/store";
  options.budget_bytes = options_.disk_bytes;
  options.segment_bytes = options_.segment_bytes;
  options.shards = options_.disk_shards;
  options.guard_sigbus = true;
  // No real time is involved: no call waits for a lock, and no thread syncs in the background.
  options.lock_deadline = std::chrono::milliseconds(0);
  options.sync_interval = std::chrono::milliseconds(0);
  options.files = files_.get();
  auto opened = storage::store::open(std::move(options));
  if (opened)
    store_ = std::move(*opened);
  else
    log_sink()(log_level::warning, "going on without a disk tier: " + opened.error().text());
}

void simulated_process::cut_off(bool is_cut) {
  is_cut_off_ = is_cut;
  for (const auto& one : connections_)
    one->cut_off(is_cut);
}

actors::remote_tier_config simulated_process::remote_tier(const remote_options& options,
                                                          const server_connector& connect) {
  auto connection = connect(name_);
  connection->cut_off(is_cut_off_);
  actors::remote_tier_config config;
  config.server = connection;
  config.name = options.server;
  config.naming = options.naming;
  config.keys = options.keys;
  config.mode = options.mode;
  config.ttl = options.ttl;
  config.lease_time = options.lease_time;
  config.max_value_bytes = options.max_value_bytes;
  config.queue.entries = options.queue_entries;
  config.breaker.seed = fast_hash(name_) + connections_.size();
  config.holder = name_ + "." + std::to_string(starts_);
  config.log = log_sink();
  connections_.push_back(std::move(connection));
  return config;
}

void simulated_process::add_remotes(wiring::tier_ports& ports) {
  ++starts_;
  if (connect_.empty()) return;
  ports.remote = remote_tier(options_.remote, connect_.front());
  for (std::size_t i = 0; i < options_.farther.size(); ++i)
    ports.farther.push_back(remote_tier(options_.farther[i], connect_[i + 1]));
}

wiring::tier_ports simulated_process::tier_ports() {
  wiring::tier_ports ports;
  ports.blocking = wiring::blocking_actors::pooled;
  ports.store = store_;
  add_remotes(ports);
  ports.cache_of = options_.cache_of;
  ports.memory_shards = options_.memory_shards;
  ports.index.budget_bytes = options_.memory_bytes / options_.memory_shards;
  ports.index.expected_entries = 64;
  ports.patience = options_.patience;
  // Otherwise evictions would differ from build to build.
  ports.index.layout = storage::node_layout::single;
  ports.index.charge = storage::glibc_charge;
  ports.log = log_sink();
  return ports;
}

void simulated_process::start_tiers() {
  tiers_ = wiring::spawn_tiers(system_.actors(), tier_ports());
  for (const auto& one : tiers_.remotes)
    enlist(actor_kind::remote, one);
  if (tiers_.remote)
    enlist(tiers_.remotes.empty() ? actor_kind::remote : actor_kind::chain, tiers_.remote);
  for (const auto& shard : tiers_.disk_shards)
    enlist(actor_kind::disk, shard);
  for (const auto& shard : tiers_.shards.all())
    enlist(actor_kind::memory, shard);
}

void simulated_process::start_services() {
  wiring::service_ports ports;
  ports.blocking = wiring::blocking_actors::pooled;
  ports.programs = compiler_.ports();
  ports.workers = options_.workers;
  ports.version = "simulated";
  ports.store = store_;
  auto& actors = system_.actors();
  const auto services = wiring::spawn_services(actors, tiers_, ports);
  for (const auto& worker : services.workers)
    enlist(actor_kind::worker, worker);
  enlist(actor_kind::broker, services.broker);
  enlist(actor_kind::guarded, services.guarded);
  enlist(actor_kind::recorder, services.recorder);
  enlist(actor_kind::bundler, services.bundler);
  enlist(actor_kind::autotune, services.autotune);
  enlist(actor_kind::kernels,
         wiring::spawn_kernel_cache(actors,
                                    {options_.max_kernels, options_.kernels_in, tiers_.shards}));
  enlist(actor_kind::nested, wiring::spawn_nested_cache(actors, tiers_.shards));
  enlist(actor_kind::actions, services.actions);
  enlist(actor_kind::metrics, services.metrics);
  enlist(actor_kind::tuner, services.tuner);
}

// --- end ---------------------------------------------------------------------------------------

bool simulated_process::drain() {
  const auto deadline = system_.now() + shutdown_deadline;
  const auto drained = std::make_shared<bool>(false);
  const auto& own = options_.remote.drain_deadline;
  const auto writes_end = own ? caf::duration(*own) : caf::infinite;
  const auto main =
      wiring::spawn_drain(system_.actors(), tiers_, writes_end, [drained] { *drained = true; });
  system_.enlist(main, name_ + ".main");
  while (!*drained) {
    if (system_.deliver_one()) continue;
    const auto next = system_.next_event();
    if (!next || *next > deadline) break;
    system_.advance_to(*next);
  }
  system_.kill({main});
  return *drained;
}

std::vector<caf::actor> simulated_process::all_actors() const {
  std::vector<caf::actor> all;
  for (const auto& [kind, some] : actors_)
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

bool simulated_process::stop() {
  if (!running_) return true;
  system_.note(name_ + " shuts down");
  const bool drained = drain();
  for (const auto& one : connections_)
    one->close();
  system_.kill(all_actors());
  if (store_)
    if (const auto synced = store_->flush(); !synced)
      log_sink()(log_level::warning, "the store was not synced: " + synced.error().text());
  forget();
  return drained;
}

void simulated_process::kill() {
  if (!running_) return;
  system_.note(name_ + " is killed");
  files_->die();
  for (const auto& one : connections_)
    one->die();
  system_.kill(all_actors());
  forget();
}

void simulated_process::forget() {
  actors_.clear();
  connections_.clear();
  tiers_ = {};
  store_.reset();
  running_ = false;
}

// --- inspection --------------------------------------------------------------------------------

const std::vector<caf::actor>& simulated_process::actors_of(actor_kind kind) const {
  static const std::vector<caf::actor> none;
  const auto at = actors_.find(kind);
  return at == actors_.end() ? none : at->second;
}

caf::actor simulated_process::owner(actor_kind kind, const cache_key* key) const {
  const auto& all = actors_of(kind);
  if (all.empty()) return nullptr;
  if (key && kind == actor_kind::memory)
    return all[actors::memory_shard_of(key->memory_hash, all.size())];
  if (key && kind == actor_kind::disk) return all[store_->shard_of(key->disk_hash)];
  return all.front();
}

std::optional<std::uint64_t> simulated_process::figure(actor_kind kind,
                                                       std::optional<std::size_t> index,
                                                       std::string_view figure) const {
  const auto& all = actors_of(kind);
  if (index && *index >= all.size()) return std::nullopt;
  std::optional<std::uint64_t> sum;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (index && i != *index) continue;
    const auto one = figure == "mailbox"
                         ? std::optional<std::uint64_t>(system_.mailbox_size(all[i]))
                         : figure_of(kind, all[i], figure);
    if (!one) return std::nullopt;
    sum = sum.value_or(0) + *one;
  }
  return sum;
}

std::vector<cache_key> simulated_process::fleet_leases(std::size_t server) const {
  std::vector<cache_key> held;
  const auto now = system_.actors().clock().now();
  const auto& all = actors_of(actor_kind::remote);
  if (server >= all.size()) return held;
  if (const auto* state = state_of<remote_tier_actor, actors::remote_tier_state>(all[server]))
    for (const auto& [key, lease] : state->leases)
      if (lease.ends > now) held.push_back(key);
  return held;
}

std::optional<std::uint64_t> simulated_process::store_figure(std::string_view figure) const {
  if (!store_) return std::nullopt;
  const auto s = store_->stats();
  const std::map<std::string_view, std::uint64_t> figures{{"entries", s.entries},
                                                          {"live_bytes", s.live_bytes},
                                                          {"disk_bytes", s.disk_bytes},
                                                          {"segments", s.segments},
                                                          {"hits", s.hits},
                                                          {"misses", s.misses},
                                                          {"corrupt", s.corrupt},
                                                          {"unreadable", s.unreadable},
                                                          {"expired", s.expired},
                                                          {"inserted", s.inserted},
                                                          {"existed", s.existed},
                                                          {"put", s.put},
                                                          {"erased", s.erased},
                                                          {"failed", s.failed},
                                                          {"evicted", s.evicted},
                                                          {"kept_by_hit", s.kept_by_hit},
                                                          {"rebuilds", s.rebuilds},
                                                          {"groups", s.groups},
                                                          {"budget_bytes", s.budget_bytes}};
  const auto at = figures.find(figure);
  return at == figures.end() ? std::nullopt : std::optional(at->second);
}

} // namespace hearth::simulation
