#include "bindings/c/backing.hpp"
#include "runtime/plain/plain_store.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace hearth::c {
namespace {

// The counters of the caches that were opened: a list that only grows, without a lock, which a fork
// could leave locked in the child.
class counters_by_name {
public:
  struct named {
    explicit named(cache_id of)
        : id(std::move(of)) {}

    const cache_id id;
    cache_counters counters{};
    named* next = nullptr;
  };

  counters_by_name() = default;
  counters_by_name(const counters_by_name&) = delete;
  counters_by_name& operator=(const counters_by_name&) = delete;
  ~counters_by_name() {
    for (auto* one = last_.load(); one;)
      delete std::exchange(one, one->next);
  }

  cache_counters& of(const cache_id& id) {
    auto made = std::make_unique<named>(id);
    auto* last = last_.load();
    do {
      for (auto* one = last; one; one = one->next)
        if (one->id == id) return one->counters;
      made->next = last;
    } while (!last_.compare_exchange_weak(last, made.get()));
    return made.release()->counters;
  }
  const named* last() const noexcept { return last_.load(); }

private:
  std::atomic<named*> last_{nullptr};
};

// Calls after `close` are refused.
struct shared_store {
  plain_store store;
  std::atomic<bool> is_closed{false};
  counters_by_name counters{};
};

void count_insert(cache_counters& counters, const expected<insert_outcome>& outcome) {
  if (!outcome) return;
  cache_counters::count(*outcome == insert_outcome::inserted ? counters.inserted
                                                             : counters.existed);
}

class plain_lease final : public lease {
public:
  plain_lease(std::shared_ptr<shared_store> in, cache_id cache, key k,
              std::shared_ptr<plain_store::lease> held)
      : in_(std::move(in))
      , counters_(in_->counters.of(cache))
      , cache_(std::move(cache))
      , key_(std::move(k))
      , held_(std::move(held)) {}

  expected<artifact> fulfil(const artifact& made) override {
    cache_counters::count(counters_.compiles);
    const auto stored = in_->store.insert(cache_, key_, made);
    count_insert(counters_, stored);
    if (!stored) return fail(stored.error());
    if (*stored == insert_outcome::inserted) return made;
    auto found = in_->store.get(cache_, key_);
    return found && found->hit() ? std::move(found->value) : made;
  }
  // Waiting processes find the lease free and compile by themselves.
  void abandon(const error&) override { cache_counters::count(counters_.failures); }
  void beat() override { held_->beat(); }

private:
  const std::shared_ptr<shared_store> in_;
  cache_counters& counters_;
  const cache_id cache_;
  const key key_;
  const std::shared_ptr<plain_store::lease> held_;
};

class plain_cache final : public cache_backing {
public:
  plain_cache(std::shared_ptr<shared_store> in, cache_id id)
      : in_(std::move(in))
      , id_(std::move(id))
      , counters_(in_->counters.of(id_)) {}

  cache_counters& counters() noexcept override { return counters_; }
  cache_counts counts() const noexcept override { return counters_.read(); }
  expected<lookup> get(const key& k) override {
    if (in_->is_closed) return fail(closed());
    auto found = in_->store.get(id_, k);
    if (found) counters_.count_lookup(found->from);
    return found;
  }
  expected<lookup> look(const key& k) override {
    if (in_->is_closed) return fail(closed());
    auto found = in_->store.get(id_, k);
    if (found && found->hit()) counters_.count_lookup(found->from);
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
    auto outcome = in_->store.insert(id_, k, value);
    count_insert(counters_, outcome);
    return outcome;
  }
  expected<void> put(const key& k, const artifact& value) override {
    if (in_->is_closed) return fail(closed());
    auto stored = in_->store.put(id_, k, value);
    if (stored) cache_counters::count(counters_.put);
    return stored;
  }
  expected<bool> erase(const key& k) override {
    if (in_->is_closed) return fail(closed());
    auto was_there = in_->store.erase(id_, k);
    if (was_there && *was_there) cache_counters::count(counters_.erased);
    return was_there;
  }
  expected<acquisition> acquire(const key& k, const call_options& options) override {
    if (in_->is_closed) return fail(closed());
    auto got = in_->store.acquire(id_, k, options);
    if (!got) return fail(got.error());
    if (got->waited && got->found.hit())
      cache_counters::count(counters_.waits);
    else
      counters_.count_lookup(got->found.from);
    acquisition result{std::move(got->found), nullptr};
    if (got->held) result.held = std::make_unique<plain_lease>(in_, id_, k, std::move(got->held));
    return result;
  }
  bool get_async(const key&, lookup_answer) override { return false; }
  bool insert_async(const key&, const artifact&, insert_answer) override { return false; }

private:
  static error closed() { return {errc::closed, "the host is closed"}; }

  const std::shared_ptr<shared_store> in_;
  const cache_id id_;
  cache_counters& counters_;
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
    for (const auto* one = shared_->counters.last(); one; one = one->next) {
      all.caches.push_back({one->counters.read(), one->id.name(), one->id.version()});
      all.disk.hits += all.caches.back().disk_hits;
      all.disk.misses += all.caches.back().misses;
    }
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
