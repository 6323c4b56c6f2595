// Tells those who wait for the value of a key that a client of the server has stored it, by
// whatever command and protocol, in whatever namespace. Any thread; owned by the order of changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace hearth::server {

class store_watch : public std::enable_shared_from_this<store_watch> {
public:
  /// Ends a watch when its last copy goes. A call that has begun by then still comes.
  using handle = std::shared_ptr<void>;

  /// Calls `told` after each store of a key with this hash, on the thread that stored it: it must
  /// not block. Another key may have the same hash, and the value may be gone again.
  [[nodiscard]] handle watch(std::uint64_t key_hash, std::function<void()> told);
  /// A key with this hash was stored.
  void note_stored(std::uint64_t key_hash);

private:
  using told_callback = std::shared_ptr<const std::function<void()>>;

  void end(std::uint64_t key_hash, const told_callback& told);

  std::mutex mutex_;
  std::unordered_multimap<std::uint64_t, told_callback> watches_; // guarded by `mutex_`
  std::atomic<std::size_t> count_{0}; // of `watches_`: most stores have nobody to tell
};

} // namespace hearth::server
