#include "runtime/engine/core.hpp"

#include "actors/action_cache.hpp"
#include "actors/artifact_recorder.hpp"
#include "actors/autotune_bundler.hpp"
#include "actors/autotune_cache.hpp"
#include "actors/compile_broker.hpp"
#include "actors/compile_worker.hpp"
#include "actors/disk_shard.hpp"
#include "actors/guarded_cache.hpp"
#include "actors/kernel_tuner.hpp"
#include "actors/memory_shard.hpp"
#include "actors/metrics.hpp"
#include "actors/remote_tier.hpp"
#include "actors/thread_unit.hpp"
#include "runtime/api/version.hpp"
#include "runtime/engine/calls/logger_guard.hpp"
#include "runtime/engine/message_types.hpp"
#include "runtime/engine/remote_tier_parts.hpp"
#include "runtime/engine/scheduler.hpp"
#include "runtime/os/fork_generation.hpp"
#include "runtime/process/process_runner.hpp"
#include "runtime/process/scratch.hpp"
#include "runtime/process/trial_runner.hpp"
#include "runtime/process/worker_path.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace hearth {
namespace {

constexpr unsigned max_shards = 64;
constexpr unsigned max_jobs = 1024;

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

unsigned chosen(unsigned wanted, unsigned otherwise, unsigned most) {
  return std::clamp(wanted == 0 ? otherwise : wanted, 1u, most);
}

std::unique_ptr<caf::actor_system_config> system_config(unsigned threads) {
  auto result = std::make_unique<caf::actor_system_config>();
  add_message_types(*result);
  share_work(*result);
  result->set("scheduler.max-threads", static_cast<std::size_t>(threads));
  return result;
}

actors::log_sink sink_of(const config& settings) {
  return [log = settings.log](log_level level, std::string_view text) {
    if (log) log(level, text);
  };
}

template <class Handle>
void end_actor(const Handle& actor) {
  if (actor)
    caf::anon_send<caf::message_priority::high>(caf::actor_cast<caf::actor>(actor),
                                                caf::exit_msg{{}, caf::exit_reason::user_shutdown});
}

} // namespace

void add_message_types(caf::actor_system_config& host) {
  host.add_message_types<caf::id_block::hearth>();
}

runtime_core::runtime_core(config settings, caf::actor_system* host)
    : settings_(std::move(settings))
    , jobs_(chosen(settings_.jobs, cores(), max_jobs))
    , system_(host)
    , inflight_(std::make_shared<inflight_limiter>(std::max<std::size_t>(1, settings_.max_inflight),
                                                   settings_.overload))
    , callbacks_(chosen(settings_.compile_threads, cores(), max_jobs))
    , fork_generation_(fork_generation()) {
  const logger_guard guard;
  open_store();
  if (!system_) {
    own_system_config_ =
        system_config(chosen(settings_.scheduler_threads, std::max(2u, cores()), 256));
    own_system_ = std::make_unique<caf::actor_system>(*own_system_config_);
    system_ = own_system_.get();
  }
  open_remote();
  spawn_shards();
  spawn_compilers();
}

runtime_core::~runtime_core() { shutdown(); }

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
  auto opened = storage::store::open(std::move(options));
  if (opened) {
    store_ = std::move(*opened);
    return;
  }
  disk_problem_ = opened.error();
  log(log_level::warning, "going on without a disk tier: " + disk_problem_.text());
}

void runtime_core::open_remote() {
  if (settings_.remote.url.empty()) return;
  auto tier = make_remote_tier(settings_.remote, sink_of(settings_), system_);
  if (!tier) {
    log(log_level::warning, "going on without a remote tier: " + tier.error().text());
    return;
  }
  server_ = tier->server;
  gate_ = tier->gate;
  signs_ = !tier->keys.empty();
  remote_ = system_->spawn(actors::remote_tier, std::move(*tier));
}

void runtime_core::spawn_shards() {
  const auto sink = sink_of(settings_);
  if (store_)
    for (unsigned i = 0; i < store_->shards(); ++i)
      disk_shards_.push_back(system_->spawn<caf::detached>(actors::disk_shard, store_, i, sink));
  const auto count = chosen(settings_.memory_shards, cores(), max_shards);
  storage::memory_index_options index;
  index.budget_bytes = settings_.memory_budget_bytes / count;
  for (unsigned i = 0; i < count; ++i)
    views_.push_back(std::make_shared<storage::memory_view>(index, store_));
  std::vector<memory_shard_actor> shards;
  for (const auto& view : views_) {
    actors::memory_shard_config shard;
    shard.view = view;
    shard.all_views = views_;
    shard.store = store_;
    shard.disk_shards = disk_shards_;
    shard.remote = remote_;
    shard.log = sink;
    if (store_ && !settings_.store_read_only) {
      if (auto leases = store_->open_leases())
        shard.leases = std::move(*leases);
      else
        log(log_level::warning,
            "compiles may be done twice, by two processes: " + leases.error().text());
    }
    shards.push_back(system_->spawn(actors::memory_shard, std::move(shard)));
  }
  shards_ = actors::shard_router(std::move(shards));
}

void runtime_core::spawn_compilers() {
  const auto worker = find_worker(settings_.worker.string());
  if (!worker) log(log_level::info, "programs cannot be run: " + worker.error().text());
  processes_ = std::make_shared<subprocess_runner>(worker.value_or(""));
  const actors::worker_ports ports{
      processes_, std::make_shared<subprocess_trial_runner>(*processes_, worker.value_or("")),
      std::make_shared<temporary_scratch_space>(), stop_.get_token()};
  for (unsigned i = 0; i < jobs_; ++i)
    workers_.push_back(system_->spawn<caf::detached>(actors::compile_worker, ports));
  broker_ = system_->spawn(actors::compile_broker, workers_);
  guarded_ = system_->spawn(actors::guarded_cache, shards_);
  recorder_ = system_->spawn(actors::artifact_recorder, 0);
  bundler_ = system_->spawn(actors::autotune_bundler, shards_);
  autotune_ = system_->spawn(actors::autotune_cache,
                             actors::autotune_cache_config{shards_, bundler_, recorder_});
  actions_ = system_->spawn(actors::action_cache, actors::action_cache_config{shards_, broker_});
  actors::kernel_tuner_config tuner;
  tuner.shards = shards_;
  tuner.broker = broker_;
  tuner.guarded = guarded_;
  tuner.autotune = autotune_;
  tuner.max_at_once = jobs_;
  tuner_ = system_->spawn(actors::kernel_tuner, std::move(tuner));
  metrics_ = system_->spawn<caf::detached>(
      actors::metrics,
      actors::metrics_config{std::string(version()), shards_, store_, remote_, broker_});
}

// --- named caches ------------------------------------------------------------------------------

namespace {

bool same_options(const named_cache& a, const named_cache& b) {
  return a.memory == b.memory && a.disk == b.disk && a.remote == b.remote &&
         a.memory_share_bytes == b.memory_share_bytes && a.compress == b.compress &&
         a.sign == b.sign;
}

std::string describe(const named_cache& cache) {
  std::string text = "tiers";
  if (cache.memory) text += " memory";
  if (cache.disk) text += " disk";
  if (cache.remote) text += " remote";
  text += ", memory share " + std::to_string(cache.memory_share_bytes);
  if (cache.compress) text += ", compressed";
  if (cache.sign) text += ", signed";
  return text;
}

} // namespace

bool runtime_core::is_remote(const cache_id& id) const {
  const auto& names = settings_.remote.caches;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return id.name() == name || id.name().starts_with(name + ".");
         });
}

expected<named_cache_ptr> runtime_core::name(const cache_id& id, const cache_options& options) {
  const std::lock_guard lock(names_mutex_);
  const auto wanted = std::make_shared<const named_cache>(
      named_cache{id, static_cast<std::uint32_t>(names_.size()), id.seed() ^ process_seed(),
                  options.memory, options.disk, options.remote && is_remote(id),
                  options.memory_share_bytes, options.compress, options.sign || signs_});
  const std::pair key(id.name(), id.version());
  if (const auto known = names_.find(key); known != names_.end()) {
    if (same_options(*known->second, *wanted)) return known->second;
    return fail(errc::invalid_argument, "cache '" + id.name() + "' is open with other options (" +
                                            describe(*known->second) + "; now " +
                                            describe(*wanted) + "): use the same, or another name");
  }
  // An eighth is left to those without a share, and to tables.
  const auto most = settings_.memory_budget_bytes - settings_.memory_budget_bytes / 8;
  if (options.memory_share_bytes > most - memory_shares_)
    return fail(errc::invalid_argument,
                "cache '" + id.name() + "' wants " + std::to_string(options.memory_share_bytes) +
                    " bytes of the memory budget; " + std::to_string(most - memory_shares_) +
                    " are left to be had: raise memory_budget_bytes");
  if (wanted->sign && wanted->remote && has_remote() && !signs_)
    log(log_level::warning, "cache '" + id.name() +
                                "' signs, but there are no signing keys: it is "
                                "not kept in the remote tier");
  memory_shares_ += options.memory_share_bytes;
  names_.emplace(key, wanted);
  return wanted;
}

named_cache_ptr runtime_core::name_apart(const cache_id& id) {
  const std::lock_guard lock(names_mutex_);
  const std::pair key(id.name(), id.version());
  if (const auto known = names_.find(key); known != names_.end()) return known->second;
  auto& apart = names_apart_[key];
  if (apart) return apart;
  // Numbers of names count from 0, these from the other end.
  const auto number = ~static_cast<std::uint32_t>(names_apart_.size());
  named_cache made{id, number, id.seed() ^ process_seed()};
  made.memory = made.remote = false;
  return apart = std::make_shared<const named_cache>(made);
}

// --- counters ----------------------------------------------------------------------------------

namespace {

void set_memory(runtime_stats& all, const memory_shard_stats& sum) {
  all.memory = {sum.hits, sum.misses};
  all.entries = sum.entries;
  all.bytes_used = sum.bytes_used;
  all.budget_bytes = sum.budget_bytes;
  all.inserted = sum.inserted;
  all.evicted = sum.evicted;
  all.erased = sum.erased;
  all.loads = sum.loads;
  all.coalesced = sum.coalesced;
  all.promotions = sum.promotions;
  all.unpersisted = sum.unpersisted;
  all.leases_granted = sum.leases_granted;
  all.leases_held = sum.leases_held;
  all.leases_waiting = sum.leases_waiting;
}

} // namespace

runtime_stats runtime_core::stats() {
  runtime_stats all;
  if (store_) {
    const auto disk = store_->stats();
    all.disk = {disk.hits, disk.misses};
  }
  all.remote = remote_stats();
  const auto inside = enter_system();
  if (!inside) return all;
  const logger_guard guard;
  constexpr std::chrono::seconds deadline{10};
  caf::scoped_actor self{*system_};
  memory_shard_stats sum;
  for (const auto& shard : shards_.all())
    self->request(shard, deadline, verb::stats_v)
        .receive([&](const memory_shard_stats& one) { sum += one; }, [](const caf::error&) {});
  set_memory(all, sum);
  return all;
}

std::optional<remote_tier_stats> runtime_core::remote_stats() {
  if (const auto inside = enter_system()) return ask_remote_stats();
  const std::lock_guard lock(last_remote_stats_mutex_);
  return last_remote_stats_;
}

std::optional<remote_tier_stats> runtime_core::ask_remote_stats() {
  if (!remote_) return std::nullopt;
  std::optional<remote_tier_stats> result;
  const logger_guard guard;
  caf::scoped_actor self{*system_};
  self->request(remote_, std::chrono::seconds(10), verb::stats_v)
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
  // A thread that runs actors would wait for what it is to answer itself.
  return inflight_limiter::take(inflight_, actors::thread_unit::of_this_thread() == nullptr);
}

void runtime_core::log(log_level level, std::string_view text) const {
  if (settings_.log) settings_.log(level, text);
}

// --- shutdown ----------------------------------------------------------------------------------

// Lets what was asked before reach the disk. Mailboxes are in order: when a shard answers, it has
// handed on all that came before.
void runtime_core::drain() {
  caf::scoped_actor self{*system_};
  const auto deadline = std::chrono::steady_clock::now() + settings_.shutdown_deadline;
  const auto left = [&] {
    return std::max(std::chrono::milliseconds(1),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        deadline - std::chrono::steady_clock::now()));
  };
  const auto ignore = [](const caf::error&) {};
  const auto pass_shards = [&] {
    for (const auto& shard : shards_.all())
      self->request(shard, left(), verb::stats_v).receive([](const memory_shard_stats&) {}, ignore);
  };
  pass_shards();
  for (const auto& shard : disk_shards_)
    self->request(shard, left(), verb::sync_v).receive([](const done&) {}, ignore);
  if (!remote_) return;
  pass_shards(); // what the disk acknowledged is handed on to the remote tier
  self->request(remote_, std::min(left(), settings_.remote.drain_deadline), verb::sync_v)
      .receive([](const done&) {}, ignore);
  const auto last = ask_remote_stats();
  const std::lock_guard lock(last_remote_stats_mutex_);
  last_remote_stats_ = last;
}

void runtime_core::adopt(caf::actor one) {
  const std::lock_guard lock(adopted_mutex_);
  if (closed_) {
    end_actor(one);
    return;
  }
  adopted_.push_back(std::move(one));
}

void runtime_core::end_actors() {
  std::vector<caf::actor> all;
  {
    const std::lock_guard lock(adopted_mutex_);
    all = std::exchange(adopted_, {});
  }
  const auto add = [&](const auto& actor) { all.push_back(caf::actor_cast<caf::actor>(actor)); };
  add(metrics_);
  add(tuner_);
  add(actions_);
  add(recorder_);
  add(autotune_);
  add(bundler_);
  add(guarded_);
  add(broker_);
  for (const auto& worker : workers_)
    add(worker);
  for (const auto& shard : shards_.all())
    add(shard);
  for (const auto& shard : disk_shards_)
    add(shard);
  if (remote_) add(remote_);
  if (server_) server_->close();
  for (const auto& actor : all)
    end_actor(actor);
  caf::scoped_actor self{*system_};
  self->wait_for(all);
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
  // The threads of these three end when nobody refers to them.
  gate_to_system_.wait_until_empty();
  metrics_ = nullptr;
  workers_.clear();
  disk_shards_.clear();
  server_.reset();
  own_system_.reset();
  if (!store_ || settings_.store_read_only) return;
  if (const auto synced = store_->flush(); !synced)
    log(log_level::warning, "the store was not synced: " + synced.error().text());
}

} // namespace hearth
