#include "bindings/c/backing.hpp"
#include "runtime/plain/plain_store.hpp"

#include <atomic>
#include <utility>

namespace hearth::c {
namespace {

// Calls after `close` are refused.
struct shared_store {
  plain_store store;
  std::atomic<bool> is_closed{false};
  std::atomic<std::uint64_t> hits{0}, misses{0};
};

class plain_lease final : public lease {
public:
  plain_lease(plain_store in, cache_id cache, key k, std::shared_ptr<plain_store::lease> held)
      : in_(std::move(in))
      , cache_(std::move(cache))
      , key_(std::move(k))
      , held_(std::move(held)) {}

  expected<artifact> fulfil(const artifact& made) override {
    const auto stored = in_.insert(cache_, key_, made);
    if (!stored) return fail(stored.error());
    if (*stored == insert_outcome::inserted) return made;
    auto found = in_.get(cache_, key_);
    return found && found->hit() ? std::move(found->value) : made;
  }
  // Waiting processes find the lease free and compile by themselves.
  void abandon(const error&) override {}
  void beat() override { held_->beat(); }

private:
  const plain_store in_;
  const cache_id cache_;
  const key key_;
  const std::shared_ptr<plain_store::lease> held_;
};

class plain_cache final : public cache_backing {
public:
  plain_cache(std::shared_ptr<shared_store> in, cache_id id)
      : in_(std::move(in))
      , id_(std::move(id)) {}

  expected<lookup> get(const key& k) override {
    if (in_->is_closed) return fail(closed());
    auto found = in_->store.get(id_, k);
    if (found) ++(found->hit() ? in_->hits : in_->misses);
    return found;
  }
  lookup_list get_many(std::span<const key> keys) override {
    lookup_list all;
    for (const auto& k : keys)
      all.push_back(get(k));
    return all;
  }
  expected<insert_outcome> insert(const key& k, const artifact& value) override {
    if (in_->is_closed) return fail(closed());
    return in_->store.insert(id_, k, value);
  }
  expected<void> put(const key& k, const artifact& value) override {
    if (in_->is_closed) return fail(closed());
    return in_->store.put(id_, k, value);
  }
  expected<bool> erase(const key& k) override {
    if (in_->is_closed) return fail(closed());
    return in_->store.erase(id_, k);
  }
  expected<acquisition> acquire(const key& k, const call_options& options) override {
    if (in_->is_closed) return fail(closed());
    auto got = in_->store.acquire(id_, k, options);
    if (!got) return fail(got.error());
    acquisition result{std::move(got->found), nullptr};
    if (got->held)
      result.held = std::make_unique<plain_lease>(in_->store, id_, k, std::move(got->held));
    return result;
  }
  bool get_async(const key&, lookup_answer) override { return false; }
  bool insert_async(const key&, const artifact&, insert_answer) override { return false; }

private:
  static error closed() { return {errc::closed, "the host is closed"}; }

  const std::shared_ptr<shared_store> in_;
  const cache_id id_;
};

class plain_host final : public host_backing {
public:
  explicit plain_host(plain_store store)
      : shared_(std::make_shared<shared_store>()) {
    shared_->store = std::move(store);
  }

  expected<std::shared_ptr<cache_backing>> open(const cache_id& id) override {
    return std::shared_ptr<cache_backing>(std::make_shared<plain_cache>(shared_, id));
  }
  std::string disk_problem() const override { return {}; }
  std::string remote_problem() const override { return {}; }
  expected<void> flush() override { return shared_->store.flush(); }
  runtime_stats stats() const override {
    runtime_stats all;
    all.disk = {shared_->hits, shared_->misses};
    return all;
  }
  void close() override { shared_->is_closed = true; }

private:
  const std::shared_ptr<shared_store> shared_;
};

} // namespace

expected<std::unique_ptr<host_backing>> open_plain_store(const char* store,
                                                         const hearth_options& options) {
  if (options.remote_url && *options.remote_url)
    return fail(errc::invalid_argument, "HEARTH_BACKING_STORE has no remote tier: leave remote_url "
                                        "out, or use HEARTH_BACKING_RUNTIME");
  auto opened = plain_store::open(store ? store : "", options.disk_budget_bytes);
  if (!opened) return fail(opened.error());
  return std::unique_ptr<host_backing>(std::make_unique<plain_host>(std::move(*opened)));
}

} // namespace hearth::c
