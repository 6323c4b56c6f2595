#include "actors/thread_unit.hpp"
#include "bindings/c/backing.hpp"
#include "runtime/api/remote_urls.hpp"
#include "runtime/engine/calls/compile_lease.hpp"
#include "runtime/engine/calls/requests.hpp"
#include "runtime/engine/calls/tiers.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"

#include <system_error>
#include <utility>

namespace hearth::c {
namespace {

// A lease of the memory shard that owns the key. It belongs to no thread: unlike a compile
// callback's, a cycle of such leases ends by the deadline of a call.
class shard_lease final : public lease {
public:
  shard_lease(cache in, cache_key key, lease_id id)
      : in_(std::move(in))
      , key_(std::move(key))
      , id_(id)
      , begun_(std::chrono::steady_clock::now()) {}
  shard_lease(const shard_lease&) = delete;
  shard_lease& operator=(const shard_lease&) = delete;
  ~shard_lease() override {
    if (id_ != 0 && !core().refusal())
      actors::send_from_thread(core().shards().owner_of(key_), verb::release_v, id_);
  }

  expected<artifact> fulfil(const artifact& made) override {
    if (auto no = core().refusal()) return fail(*no);
    return engine::fulfil_lease(core(), key_, std::exchange(id_, 0),
                                with_time_taken(made, std::chrono::steady_clock::now() - begun_));
  }
  void abandon(const error& why) override {
    if (core().refusal()) return;
    actors::send_from_thread(core().shards().owner_of(key_), verb::abandon_v, std::exchange(id_, 0),
                             why);
  }
  void beat() override {} // the shard does

private:
  engine::runtime_core& core() const noexcept { return *internals::core(in_); }

  const cache in_; // keeps the runtime's core
  const cache_key key_;
  lease_id id_; // 0: ended
  const std::chrono::steady_clock::time_point begun_;
};

class runtime_cache final : public cache_backing {
public:
  explicit runtime_cache(cache in)
      : in_(std::move(in)) {}

  const cache* handle() const noexcept override { return &in_; }
  cache_counters& counters() noexcept override { return *internals::name(in_)->counters; }
  cache_counts counts() const noexcept override { return in_.counts(); }
  expected<lookup> get(const key& k) override { return in_.get(k); }
  expected<lookup> look(const key& k) override {
    if (auto good = engine::check_key(k.encoded()); !good) return fail(good.error());
    auto found = engine::find_locally(*internals::core(in_), {internals::name(in_), k.encoded()});
    return found ? std::move(*found) : lookup{};
  }
  lookup_list get_many(std::span<const key> keys) override { return in_.get_many(keys); }
  expected<insert_outcome> insert(const key& k, const artifact& value) override {
    return in_.insert(k, value);
  }
  expected<void> put(const key& k, const artifact& value) override { return in_.put(k, value); }
  expected<bool> erase(const key& k) override { return in_.erase(k); }

  expected<acquisition> acquire(const key& k, const call_options& options) override {
    auto found = look(k);
    if (!found) return fail(found.error());
    if (found->hit()) return acquisition{std::move(*found), {}};
    auto& core = *internals::core(in_);
    const cache_key wanted(internals::name(in_), k.encoded());
    auto reply = engine::wait(engine::ask_for_lease(core, wanted, options), options);
    if (!reply) return fail(reply.error());
    if (reply->found.hit()) return acquisition{std::move(reply->found), {}};
    return acquisition{{}, std::make_unique<shard_lease>(in_, wanted, reply->lease.take())};
  }

  bool get_async(const key& k, lookup_answer answer) override {
    in_.get_async(k).then(std::move(answer));
    return true;
  }
  bool insert_async(const key& k, const artifact& value, insert_answer answer) override {
    in_.insert_async(k, value).then(std::move(answer));
    return true;
  }

private:
  const cache in_;
};

class runtime_host final : public host_backing {
public:
  explicit runtime_host(config settings)
      : rt_(std::move(settings)) {}

  expected<std::shared_ptr<cache_backing>> open(const cache_id& id) override {
    auto opened = rt_.open(id.name(), cache_options().with_version(id.version()));
    if (!opened) return fail(opened.error());
    return std::shared_ptr<cache_backing>(std::make_shared<runtime_cache>(std::move(*opened)));
  }
  std::string disk_problem() const override {
    return rt_.has_disk() ? std::string() : rt_.disk_problem().text();
  }
  std::string remote_problem() const override {
    return rt_.has_remote() ? std::string() : rt_.remote_problem().text();
  }
  expected<void> flush() override { return rt_.flush(); }
  runtime_stats stats() const override { return rt_.stats(); }
  void close() override { rt_.shutdown(); }

private:
  runtime rt_;
};

} // namespace

expected<std::unique_ptr<host_backing>> start_runtime(const char* store,
                                                      const hearth_options& options) {
  config settings;
  if (store) settings.store = store;
  settings.disk_budget_bytes = options.disk_budget_bytes;
  if (options.memory_budget_bytes) settings.memory_budget_bytes = options.memory_budget_bytes;
  if (options.remote_url)
    settings.remote = remotes_at(remote_urls(options.remote_url), settings.remote);
  settings.scheduler_threads = options.threads;
  try {
    return std::unique_ptr<host_backing>(std::make_unique<runtime_host>(std::move(settings)));
  } catch (const std::system_error& refused) {
    return fail(errc::io, std::string("cannot start a runtime: ") + refused.what());
  }
}

} // namespace hearth::c
