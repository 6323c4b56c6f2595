// A store without a runtime: for programs that start no thread, that fork, or that only look things
// up. It has no memory tier, no remote tier and no actor, and links no CAF.
//
//   auto store = hearth::plain_store::open("/var/cache/me");
//   const auto kernels = hearth::cache_id::make("kernels", "1").value();
//   if (auto found = store->get(kernels, "matmul"); found && found->hit()) use(found->value);
//
// Any thread; copies share the store. In the child of a fork it opens the store anew.
#pragma once

#include "messages/artifact.hpp"
#include "messages/cache_id.hpp"
#include "messages/error.hpp"
#include "messages/key.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"
#include "runtime/api/call_options.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace HEARTH_PUBLIC hearth {

class plain_store {
public:
  struct state; ///< private

  /// The right to make one entry, held against all threads and processes; its end releases it.
  class lease {
  public:
    lease(std::shared_ptr<state> in, std::uint64_t hash, bool is_ours);
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease();

    /// Shows the others that the holder lives. After three seconds without it they compile, too.
    void beat() const;

  private:
    const std::shared_ptr<state> in_;
    const std::uint64_t hash_, generation_;
    const bool is_ours_; // false: another holder has it
  };

  /// The entry, or the lease to make it.
  struct acquisition {
    lookup found;
    std::shared_ptr<lease> held; ///< null on a hit
    bool waited = false;         ///< another holder had the lease before
  };

  /// An empty handle, to be assigned; nothing else may be called.
  plain_store() noexcept = default;
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// The store in `directory`, which is made by the first write. Reads of a store that does not
  /// exist are misses. Errors: `invalid_argument` for an empty name.
  static expected<plain_store> open(const std::filesystem::path& directory,
                                    std::uint64_t budget_bytes = 0);

  /// A hit in the mapped store, or a miss. Errors: `corrupt` (once), `invalid_key`.
  expected<lookup> get(const cache_id& in, const key& k) const;

  /// Each takes the lock of one shard, which other processes hold for less than a millisecond.
  /// Errors: those of opening the store and of writing.
  expected<insert_outcome> insert(const cache_id& in, const key& k, const artifact& value) const;
  expected<void> put(const cache_id& in, const key& k, const artifact& value) const;
  expected<bool> erase(const cache_id& in, const key& k) const;

  /// Returns the entry, or the lease to make it: the caller inserts the entry and drops the lease.
  /// While another holder makes it, looks every few milliseconds, until the deadline (`timeout`) or
  /// the stop (`cancelled`). Without a deadline it waits five minutes; then it gives a lease
  /// although there is another, since the holder may hang.
  expected<acquisition> acquire(const cache_id& in, const key& k,
                                const call_options& options = {}) const;

  /// Makes what was acknowledged survive a power loss.
  expected<void> flush() const;

private:
  explicit plain_store(std::shared_ptr<state> shared)
      : state_(std::move(shared)) {}

  std::shared_ptr<state> state_;
};

} // namespace hearth
