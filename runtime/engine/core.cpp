#include "runtime/engine/core.hpp"

#include "actors/thread_unit.hpp"
#include "messages/autotune/names.hpp"
#include "runtime/api/version.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/message_types.hpp"
#include "runtime/engine/remote_tier_parts.hpp"
#include "runtime/engine/scheduler.hpp"
#include "runtime/os/thread_room.hpp"
#include "runtime/process/delegating_runner.hpp"
#include "runtime/process/process_runner.hpp"
#include "runtime/process/scratch.hpp"
#include "runtime/process/trial_runner.hpp"
#include "runtime/process/worker_path.hpp"
#include "runtime/wiring/ending.hpp"
#include "storage/fork_generation.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>

namespace hearth {

void add_message_types(caf::actor_system_config& host) {
  host.add_message_types<caf::id_block::hearth>();
}

} // namespace hearth

namespace hearth::engine {
namespace {

constexpr unsigned max_shards = 64;
constexpr unsigned max_jobs = 1024;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

unsigned chosen(unsigned wanted, unsigned otherwise, unsigned max) {
  return std::clamp(wanted == 0 ? otherwise : wanted, 1u, max);
}

std::unique_ptr<caf::actor_system_config> system_config(unsigned threads) {
  auto result = std::make_unique<caf::actor_system_config>();
  add_message_types(*result);
  share_work(*result);
  result->set("scheduler.max-threads", static_cast<std::size_t>(threads));
  return result;
}

// The host's callback, whose exceptions end neither an actor nor a thread.
template <class... Arguments>
std::function<void(Arguments...)> guarded(std::function<void(Arguments...)> callback) {
  if (!callback) return callback;
  return [callback = std::move(callback)](Arguments... arguments) {
    try {
      callback(arguments...);
    } catch (...) { // it has nobody to tell
    }
  };
}

config with_guarded_callbacks(config settings) {
  settings.log = guarded(std::move(settings.log));
  settings.waits = guarded(std::move(settings.waits));
  return settings;
}

actors::log_sink sink_of(const config& settings) {
  return [log = settings.log](log_level level, std::string_view text) {
    if (log) log(level, text);
  };
}

} // namespace

runtime_core::runtime_core(config settings, caf::actor_system* host)
    : settings_(with_guarded_callbacks(std::move(settings)))
    , jobs_(chosen(settings_.jobs, cores(), max_jobs))
    , system_(host)
    , inflight_(std::make_shared<inflight_limiter>(std::max<std::size_t>(1, settings_.max_inflight),
                                                   settings_.overload))
    , callbacks_(chosen(settings_.compile_threads, cores(), max_jobs))
    , fork_generation_(fork_generation()) {
  const logger_guard guard;
  if (settings_.trace) trace_ = std::make_shared<actors::trace_log>();
  open_store();
  const auto scheduled = chosen(settings_.scheduler_threads, std::max(2u, cores()), 256);
  check_threads(host ? 0 : scheduled);
  if (!system_) {
    own_system_config_ = system_config(scheduled);
    own_system_ = std::make_unique<caf::actor_system>(*own_system_config_);
    system_ = own_system_.get();
  }
  try {
    tiers_ = wiring::spawn_tiers(*system_, tier_ports());
    services_ = wiring::spawn_services(*system_, tiers_, service_ports());
  } catch (const std::system_error& refused) {
    abandon_system();
    throw std::system_error(refused.code(), "cannot start every thread; raise the limit of "
                                            "processes (ulimit -u) or of memory (ulimit -v)");
  }
}

runtime_core::~runtime_core() { shutdown(); }

// The actor system cannot undo a start that fails half-way, so its threads are tried beforehand.
void runtime_core::check_threads(unsigned scheduled) const {
  constexpr unsigned clock_and_metrics = 2;
  const auto blocking = jobs_ + (store_ ? store_->shards() : 0);
  // The kernel counts threads for a moment after their end.
  constexpr unsigned still_counted = 1;
  const auto room = os::check_thread_room(scheduled + blocking + clock_and_metrics + still_counted);
  if (!room)
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            room.error().text());
}

// An actor system waits for its actors. When some could not be spawned, nobody ends the others: the
// system is not destroyed.
void runtime_core::abandon_system() noexcept {
  static_cast<void>(own_system_.release());
  static_cast<void>(own_system_config_.release());
}

bool runtime_core::is_forked() const noexcept { return fork_generation() != fork_generation_; }

void runtime_core::open_store() {
  if (settings_.store.empty()) {
    disk_problem_ = error{errc::not_found, "no store is configured"};
    return;
  }
  storage::store_options options;
  options.directory = settings_.store;
  options.budget_bytes = settings_.disk_budget_bytes;
  options.read_only = settings_.store_read_only;
  options.guard_sigbus = settings_.guard_sigbus;
  options.syncs_when_closed = settings_.store_syncs_when_closed;
  auto opened = storage::store::open(std::move(options));
  if (opened) {
    store_ = std::move(*opened);
    return;
  }
  disk_problem_ = opened.error();
  log(log_level::warning, "going on without a disk tier: " + disk_problem_.text());
}

namespace {

std::vector<remote_config> remotes_of(const config& settings) {
  std::vector<remote_config> all;
  if (settings.remote.url.empty()) return all;
  all.push_back(settings.remote);
  all.front().farther.clear();
  all.insert(all.end(), settings.remote.farther.begin(), settings.remote.farther.end());
  return all;
}

} // namespace

// The tiers that can be used, nearest first.
std::vector<actors::remote_tier_config> runtime_core::open_remotes() {
  std::vector<actors::remote_tier_config> made;
  const auto all = remotes_of(settings_);
  std::size_t with_keys = 0;
  for (const auto& one : all) {
    auto tier = make_remote_tier(one, sink_of(settings_), system_);
    if (!tier) {
      remote_problem_ = tier.error();
      log(log_level::warning, "going on without a remote tier: " + remote_problem_.text());
      continue;
    }
    with_keys += !tier->keys.empty();
    if (all.size() > 1) tier->takes = [one](const cache_id& id) { return takes_cache(one, id); };
    servers_.push_back(tier->server);
    made.push_back(std::move(*tier));
  }
  signs_ = with_keys != 0;
  if (signs_ && with_keys != made.size())
    log(log_level::warning,
        "some remote tiers have signing keys and others have none: those without "
        "are not used");
  return made;
}

wiring::tier_ports runtime_core::tier_ports() {
  wiring::tier_ports ports;
  ports.store = store_;
  ports.leases = !settings_.store_read_only;
  auto remotes = open_remotes();
  if (!remotes.empty()) {
    ports.remote = std::move(remotes.front());
    remotes.erase(remotes.begin());
    ports.farther = std::move(remotes);
    gate_ = wiring::join_gates(ports);
  }
  ports.cache_of = [this](const cache_id& id) { return find_named(id); };
  ports.memory_shards = chosen(settings_.memory_shards, cores(), max_shards);
  ports.index.budget_bytes = settings_.memory_budget_bytes / ports.memory_shards;
  ports.patience = settings_.patience;
  ports.waits = settings_.waits;
  ports.log = sink_of(settings_);
  return ports;
}

wiring::service_ports runtime_core::service_ports() {
  const auto worker = process::find_worker(settings_.worker.string());
  if (!worker) log(log_level::info, "programs cannot be run: " + worker.error().text());
  processes_ = std::make_shared<process::subprocess_runner>(worker);
  wiring::service_ports ports;
  std::shared_ptr<actors::process_runner> programs = processes_;
  if (settings_.run_elsewhere)
    programs = std::make_shared<process::delegating_runner>(processes_, settings_.run_elsewhere);
  ports.programs = {
      programs,
      std::make_shared<process::subprocess_trial_runner>(*processes_, worker.value_or("")),
      std::make_shared<process::temporary_scratch_space>(), stop_.get_token()};
  ports.workers = jobs_;
  ports.version = version();
  ports.store = store_;
  ports.trace = trace_;
  ports.caches = [this] { return cache_counts_by_name(); };
  return ports;
}

// --- named caches ------------------------------------------------------------------------------

namespace {

bool same_options(const named_cache& a, const named_cache& b) {
  return a.memory == b.memory && a.disk == b.disk && a.remote == b.remote &&
         a.memory_share_bytes == b.memory_share_bytes && a.compress == b.compress &&
         a.sign == b.sign && a.ttl == b.ttl && a.foreign == b.foreign;
}

std::string describe(const named_cache& cache) {
  std::string text = "tiers";
  if (cache.memory) text += " memory";
  if (cache.disk) text += " disk";
  if (cache.remote) text += " remote";
  text += ", memory share " + std::to_string(cache.memory_share_bytes);
  if (cache.compress) text += ", compressed";
  if (cache.sign) text += ", signed";
  if (cache.foreign) text += ", of another program";
  if (cache.ttl.count() > 0) text += ", entries last " + std::to_string(cache.ttl.count()) + " ms";
  return text;
}

} // namespace

bool runtime_core::is_remote(const cache_id& id) const {
  const auto& farther = settings_.remote.farther;
  return takes_cache(settings_.remote, id) ||
         std::any_of(farther.begin(), farther.end(),
                     [&](const remote_config& one) { return takes_cache(one, id); });
}

expected<named_cache_ptr> runtime_core::name(const cache_id& id, const cache_options& options,
                                             bool foreign) {
  const std::lock_guard lock(names_mutex_);
  named_cache wanted{id,
                     static_cast<std::uint32_t>(names_.size()),
                     id.seed() ^ process_seed(),
                     options.memory,
                     options.disk,
                     options.remote && is_remote(id),
                     options.memory_share_bytes,
                     options.compress,
                     options.sign || signs_,
                     options.ttl,
                     foreign};
  const cache_name key(id.name(), id.version());
  if (const auto known = names_.find(key); known != names_.end()) {
    if (same_options(*known->second, wanted)) return known->second;
    return fail(errc::invalid_argument, "cache '" + id.name() + "' is open with other options (" +
                                            describe(*known->second) + "; now " + describe(wanted) +
                                            "): use the same, or another name");
  }
  // An eighth is left for caches without a share, and for tables.
  const auto max = settings_.memory_budget_bytes - settings_.memory_budget_bytes / 8;
  if (options.memory_share_bytes > max - memory_shares_)
    return fail(errc::invalid_argument,
                "cache '" + id.name() + "' wants " + std::to_string(options.memory_share_bytes) +
                    " bytes of the memory budget; " + std::to_string(max - memory_shares_) +
                    " are left to be had: raise memory_budget_bytes");
  if (wanted.sign && wanted.remote && has_remote() && !signs_)
    log(log_level::warning, "cache '" + id.name() +
                                "' signs, but there are no signing keys: it is "
                                "not kept in the remote tier");
  memory_shares_ += options.memory_share_bytes;
  count_in(wanted);
  return names_.emplace(key, std::make_shared<const named_cache>(std::move(wanted))).first->second;
}

named_cache_ptr runtime_core::name_apart(const cache_id& id) {
  const std::lock_guard lock(names_mutex_);
  const cache_name key(id.name(), id.version());
  if (const auto known = names_.find(key); known != names_.end()) return known->second;
  auto& apart = names_apart_[key];
  if (apart) return apart;
  // Named caches are numbered up from 0, these down from the largest number.
  const auto number = ~static_cast<std::uint32_t>(names_apart_.size());
  named_cache made{id, number, id.seed() ^ process_seed()};
  made.memory = made.remote = false;
  count_in(made);
  return apart = std::make_shared<const named_cache>(made);
}

named_cache_ptr runtime_core::find_named(const cache_id& id) {
  const std::lock_guard lock(names_mutex_);
  const auto known = names_.find(std::pair(id.name(), id.version()));
  if (known != names_.end()) return known->second;
  named_cache made{id, ~std::uint32_t{0}, id.seed() ^ process_seed()};
  made.memory = false;
  made.remote = is_remote(id);
  made.sign = signs_;
  made.foreign = id.name() == inductor_tunings;
  return std::make_shared<const named_cache>(made);
}

// --- counters ----------------------------------------------------------------------------------

void runtime_core::note_bypass(std::string_view reason) {
  constexpr std::size_t max_reasons = 1000;
  const std::lock_guard lock(bypasses_mutex_);
  const bool fits = bypasses_.size() < max_reasons || bypasses_.contains(reason);
  ++bypasses_[fits ? std::string(reason) : "other"];
}

// The caller holds `names_mutex_`.
void runtime_core::count_in(named_cache& cache) {
  auto& counted = counted_[{cache.id.name(), cache.id.version()}];
  cache.counters = counted.shared;
  cache.lookups = {counted.lookups.number(), counted.shared->lookups.data()};
}

std::vector<named_cache_counts> runtime_core::cache_counts_by_name() {
  std::vector<named_cache_counts> all;
  if (is_forked()) return all; // another thread may have held the lock
  const std::lock_guard lock(names_mutex_);
  for (const auto& [name, counted] : counted_)
    all.push_back({counted.shared->read(counted.lookups.sums()), name.first, name.second});
  return all;
}

runtime_stats runtime_core::stats() {
  runtime_stats all;
  if (store_) {
    const auto disk = store_->stats();
    all.disk = {disk.hits, disk.misses};
  }
  all.remote = remote_stats();
  {
    const std::lock_guard lock(bypasses_mutex_);
    all.bypasses = bypasses_;
  }
  all.caches = cache_counts_by_name();
  for (const auto& one : all.caches)
    all.memory.hits += one.memory_hits;
  const auto inside = enter_system();
  if (!inside) return all;
  const logger_guard guard;
  constexpr std::chrono::seconds deadline{10};
  caf::scoped_actor self{*system_};
  memory_shard_stats sum;
  for (const auto& shard : tiers_.shards.all())
    self->request(shard, deadline, verb::stats_v)
        .receive([&](const memory_shard_stats& one) { sum += one; }, [](const caf::error&) {});
  static_cast<memory_counts&>(all) = sum;
  all.memory.hits += sum.hits;
  all.memory.misses = sum.misses;
  return all;
}

std::optional<remote_tier_stats> runtime_core::remote_stats() {
  if (const auto inside = enter_system()) return ask_remote_stats();
  const std::lock_guard lock(last_remote_stats_mutex_);
  return last_remote_stats_;
}

std::optional<remote_tier_stats> runtime_core::ask_remote_stats() {
  if (!tiers_.remote) return std::nullopt;
  std::optional<remote_tier_stats> result;
  const logger_guard guard;
  caf::scoped_actor self{*system_};
  self->request(tiers_.remote, std::chrono::seconds(10), verb::stats_v)
      .receive([&](const remote_tier_stats& found) { result = found; }, [](const caf::error&) {});
  return result;
}

// --- state -------------------------------------------------------------------------------------

std::optional<error> runtime_core::refusal() const {
  if (is_forked())
    return error{errc::forked,
                 "this process was forked from the one that started the runtime, whose threads it "
                 "does not have; start a runtime of its own"};
  if (closed_.load(std::memory_order_acquire))
    return error{errc::closed, "the runtime is shut down"};
  return std::nullopt;
}

expected<shutdown_gate::pass> runtime_core::enter_system() {
  if (auto no = refusal()) return fail(*no);
  if (auto inside = gate_to_system_.enter()) return std::move(*inside);
  return fail(errc::closed, "the runtime is shut down");
}

expected<inflight_limiter::slot> runtime_core::take_slot() {
  if (ledger_.holds_any(lease_ledger::this_thread())) return inflight_limiter::slot();
  // A thread that runs actors must not wait: the requests in flight may need it.
  return inflight_limiter::take(inflight_, actors::thread_unit::of_this_thread() == nullptr);
}

void runtime_core::log(log_level level, std::string_view text) const {
  if (settings_.log) settings_.log(level, text);
}

// --- shutdown ----------------------------------------------------------------------------------

namespace {

std::chrono::milliseconds longest_drain(const remote_config& settings) {
  auto longest = settings.drain_deadline;
  for (const auto& one : settings.farther)
    longest = std::max(longest, one.drain_deadline);
  return longest;
}

} // namespace

void runtime_core::drain() {
  const auto drained = std::make_shared<std::promise<void>>();
  const auto drain =
      wiring::spawn_drain(*system_, tiers_, caf::duration(longest_drain(settings_.remote)),
                          [drained] { drained->set_value(); });
  if (drained->get_future().wait_for(settings_.shutdown_deadline) != std::future_status::ready)
    wiring::end_actor(drain);
  const auto last = ask_remote_stats();
  const std::lock_guard lock(last_remote_stats_mutex_);
  last_remote_stats_ = last;
}

void runtime_core::adopt(const caf::actor& one) {
  const std::lock_guard lock(adopted_mutex_);
  if (closed_)
    wiring::end_actor(one);
  else
    adopted_.emplace(one.id(), one);
}

void runtime_core::release(const caf::actor& one) {
  if (is_forked()) return;
  const std::lock_guard lock(adopted_mutex_);
  // Queued after the messages in its mailbox: callers may wait for their answers.
  if (adopted_.erase(one.id()) > 0)
    caf::anon_send(one, caf::exit_msg{{}, caf::exit_reason::user_shutdown});
}

void runtime_core::end_actors() {
  std::vector<caf::actor> all;
  {
    const std::lock_guard lock(adopted_mutex_);
    for (auto& [id, one] : std::exchange(adopted_, {}))
      all.push_back(std::move(one));
  }
  wiring::append(all, services_);
  wiring::append(all, tiers_);
  for (const auto& server : servers_)
    server->close();
  wiring::end_actors(*system_, all);
}

void runtime_core::shutdown() {
  if (is_forked() || closed_.exchange(true)) return;
  const logger_guard guard;
  gate_to_system_.close();
  stop_.request_stop();
  expiries_.stop();
  callbacks_.refuse();
  drain();
  end_actors();
  callbacks_.stop();
  // The threads of these three end with the last reference to them.
  gate_to_system_.wait_until_empty();
  services_.metrics = nullptr;
  services_.workers.clear();
  tiers_.disk_shards.clear();
  servers_.clear();
  own_system_.reset();
  if (!store_ || settings_.store_read_only) return;
  if (const auto synced = store_->flush(); !synced)
    log(log_level::warning, "the store was not synced: " + synced.error().text());
}

} // namespace hearth::engine
