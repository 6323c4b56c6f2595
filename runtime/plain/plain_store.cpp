#include "runtime/plain/plain_store.hpp"

#include "storage/disk/store.hpp"
#include "storage/disk/store/hit_view.hpp"
#include "storage/fork_generation.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

namespace hearth {

namespace {

namespace fs = std::filesystem;
using storage::read_status;

constexpr std::chrono::milliseconds shortest_poll{1}, longest_poll{10};
constexpr std::chrono::minutes patience{5}; // of a caller without a deadline

expected<void> check(const key& k) {
  if (k.encoded().size() <= max_key_bytes) return {};
  return fail(errc::invalid_key, "a key of " + std::to_string(k.encoded().size()) + " bytes; " +
                                     std::to_string(max_key_bytes) + " are allowed");
}

expected<void> check(const key& k, const artifact& value) {
  if (!value) return fail(errc::invalid_value, "an empty artifact: make one first");
  return check(k);
}

} // namespace

// What one process has open of the store. Guarded by `mutex`.
struct plain_store::state {
  struct opened {
    const std::uint64_t generation = fork_generation();
    std::mutex mutex;
    std::condition_variable released; // a lease of this process
    bool needs_whole = false;         // the view does not do: a shard has to be put in order
    std::unique_ptr<storage::disk::hit_view> view;
    std::unique_ptr<storage::store> whole; // opened by the first write
    std::unique_ptr<storage::lease_table> leases;
  };

  state(fs::path in, std::uint64_t budget)
      : directory(std::move(in))
      , budget_bytes(budget) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    auto* const last = now.load(std::memory_order_acquire);
    if (last->generation == fork_generation()) delete last;
  }

  // In the child of a fork what the parent has opened is left as it is: its locks are the parent's,
  // and a thread that the child lacks may hold the mutex.
  opened& here() {
    auto* last = now.load(std::memory_order_acquire);
    if (last->generation == fork_generation()) return *last;
    auto fresh = std::make_unique<opened>();
    if (now.compare_exchange_strong(last, fresh.get(), std::memory_order_acq_rel))
      return *fresh.release();
    return *last;
  }

  bool exists() const {
    std::error_code failure;
    return fs::is_directory(directory / "v1", failure);
  }

  // The functions below are called with the mutex of `in` held.
  expected<storage::store*> writable(opened& in) const;
  storage::read_result read(opened& in, const storage::entry_key& place) const;
  expected<storage::lease_table*> lease_table(opened& in) const;

  expected<storage::write_request> write(storage::write_kind kind, const cache_id& cache,
                                         const key& k, artifact value);
  expected<bool> take_lease(std::uint64_t hash);
  void release_lease(std::uint64_t hash, std::uint64_t taken_in);
  void beat(std::uint64_t hash, std::uint64_t taken_in);

  const fs::path directory;
  const std::uint64_t budget_bytes;
  std::atomic<opened*> now{new opened};
};

expected<storage::store*> plain_store::state::writable(opened& in) const {
  if (in.whole) return in.whole.get();
  storage::store_options options;
  options.directory = directory;
  options.budget_bytes = budget_bytes;
  options.guard_sigbus = true;
  options.sync_interval = std::chrono::milliseconds(0); // no thread
  options.syncs_when_closed = false;
  auto store = storage::store::open(std::move(options));
  if (!store) return fail(store.error());
  in.whole = std::move(*store);
  return in.whole.get();
}

storage::read_result plain_store::state::read(opened& in, const storage::entry_key& place) const {
  if (!in.whole && !in.needs_whole) {
    if (!in.view && exists())
      if (auto view = storage::disk::hit_view::open(directory)) in.view = std::move(*view);
    if (!in.view) return {};
    if (auto found = in.view->get(place)) return std::move(*found);
    in.needs_whole = true;
  }
  const auto all = writable(in);
  return all ? (*all)->get(place) : storage::read_result{read_status::unreadable};
}

expected<storage::write_request> plain_store::state::write(storage::write_kind kind,
                                                           const cache_id& cache, const key& k,
                                                           artifact value) {
  auto& in = here();
  const std::lock_guard lock(in.mutex);
  const auto all = writable(in);
  if (!all) return fail(all.error());
  const storage::entry_key place(cache, k.encoded());
  storage::write_request request{kind, place, std::move(value)};
  (*all)->apply((*all)->shard_of(place.hash), {&request, 1});
  if (request.status == storage::write_status::failed) return fail(request.why);
  return request;
}

expected<storage::lease_table*> plain_store::state::lease_table(opened& in) const {
  if (in.leases) return in.leases.get();
  const auto all = writable(in);
  if (!all) return fail(all.error());
  auto table = (*all)->open_leases();
  if (!table) return fail(table.error());
  in.leases = std::move(*table);
  return in.leases.get();
}

// Whether this process has the lease now.
expected<bool> plain_store::state::take_lease(std::uint64_t hash) {
  auto& in = here();
  const std::lock_guard lock(in.mutex);
  const auto table = lease_table(in);
  if (!table) return fail(table.error());
  auto taken = (*table)->try_acquire(hash);
  if (taken && *taken) (*table)->beat(hash, storage::lease_stage::compiling);
  return taken;
}

void plain_store::state::release_lease(std::uint64_t hash, std::uint64_t taken_in) {
  auto& in = here();
  if (in.generation != taken_in) return; // of the parent
  {
    const std::lock_guard lock(in.mutex);
    if (in.leases) in.leases->release(hash);
  }
  in.released.notify_all();
}

void plain_store::state::beat(std::uint64_t hash, std::uint64_t taken_in) {
  auto& in = here();
  if (in.generation != taken_in) return;
  const std::lock_guard lock(in.mutex);
  if (in.leases) in.leases->beat(hash, storage::lease_stage::compiling);
}

// --- leases ------------------------------------------------------------------------------------

plain_store::lease::lease(std::shared_ptr<state> in, std::uint64_t hash, bool is_ours)
    : in_(std::move(in))
    , hash_(hash)
    , generation_(fork_generation())
    , is_ours_(is_ours) {}

plain_store::lease::~lease() {
  if (is_ours_) in_->release_lease(hash_, generation_);
}

void plain_store::lease::beat() const {
  if (is_ours_) in_->beat(hash_, generation_);
}

// --- calls -------------------------------------------------------------------------------------

expected<plain_store> plain_store::open(const fs::path& directory, std::uint64_t budget_bytes) {
  if (directory.empty())
    return fail(errc::invalid_argument, "an empty name of a store: name a directory");
  std::error_code failure;
  auto absolute = fs::absolute(directory, failure); // the process may change its folder
  return plain_store(
      std::make_shared<state>(failure ? directory : std::move(absolute), budget_bytes));
}

expected<lookup> plain_store::get(const cache_id& in, const key& k) const {
  if (auto good = check(k); !good) return fail(good.error());
  auto& opened = state_->here();
  std::unique_lock lock(opened.mutex);
  auto found = state_->read(opened, {in, k.encoded()});
  lock.unlock();
  switch (found.status) {
  case read_status::hit: return lookup{tier::disk, std::move(found.value)};
  case read_status::corrupt:
    return fail(errc::corrupt, "cache '" + in.name() + "', key " + k.describe() +
                                   ": the stored bytes are damaged; the entry is dropped");
  case read_status::unreadable: return lookup::unanswered();
  case read_status::miss: break;
  }
  return lookup{};
}

expected<insert_outcome> plain_store::insert(const cache_id& in, const key& k,
                                             const artifact& value) const {
  if (auto good = check(k, value); !good) return fail(good.error());
  const auto done = state_->write(storage::write_kind::insert, in, k, value);
  if (!done) return fail(done.error());
  return done->status == storage::write_status::inserted ? insert_outcome::inserted
                                                         : insert_outcome::exists;
}

expected<void> plain_store::put(const cache_id& in, const key& k, const artifact& value) const {
  if (auto good = check(k, value); !good) return good;
  const auto done = state_->write(storage::write_kind::put, in, k, value);
  if (!done) return fail(done.error());
  return {};
}

expected<bool> plain_store::erase(const cache_id& in, const key& k) const {
  if (auto good = check(k); !good) return fail(good.error());
  if (!state_->exists()) return false;
  const auto done = state_->write(storage::write_kind::erase, in, k, {});
  if (!done) return fail(done.error());
  return done->status == storage::write_status::erased;
}

expected<plain_store::acquisition> plain_store::acquire(const cache_id& in, const key& k,
                                                        const call_options& options) const {
  const auto& deadline = options.deadline();
  const auto begun = std::chrono::steady_clock::now();
  const storage::entry_key place(in, k.encoded());
  const auto hash = place.hash;
  bool has_waited = false;
  for (auto pause = shortest_poll;; pause = std::min(2 * pause, longest_poll)) {
    auto found = get(in, k);
    if (!found) return fail(found.error());
    if (found->hit()) return acquisition{std::move(*found), nullptr, has_waited};
    if (options.stop().stop_requested()) return fail(errc::cancelled, "the caller cancelled it");
    const auto taken = state_->take_lease(hash);
    if (!taken) return fail(taken.error());
    if (*taken) {
      auto held = std::make_shared<lease>(state_, hash, true);
      // The former holder may have stored the entry since this call looked.
      auto again = get(in, k);
      if (again && again->hit()) return acquisition{std::move(*again), nullptr, has_waited};
      return acquisition{{}, std::move(held), has_waited};
    }
    has_waited = true;
    const auto waited = std::chrono::steady_clock::now() - begun;
    if (deadline && waited >= *deadline)
      return fail(errc::timeout, "another process still makes the entry");
    if (!deadline && waited >= patience)
      return acquisition{{}, std::make_shared<lease>(state_, hash, false), has_waited};
    auto& opened = state_->here();
    std::unique_lock lock(opened.mutex);
    opened.released.wait_for(lock, pause);
  }
}

expected<void> plain_store::flush() const {
  auto& opened = state_->here();
  const std::lock_guard lock(opened.mutex);
  const auto all = state_->writable(opened);
  if (!all) return fail(all.error());
  return (*all)->flush();
}

} // namespace hearth
