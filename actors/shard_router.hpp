// Which memory shard owns a key. Immutable once the runtime is wired; any thread.
#pragma once

#include "messages/protocol.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace hearth::actors {

/// The index of the memory shard, out of `shards`, that owns a hash.
inline std::size_t memory_shard_of(std::uint64_t memory_hash, std::size_t shards) noexcept {
  return static_cast<std::size_t>((memory_hash >> 32) * shards >> 32);
}

/// The memory shards of one runtime.
class shard_router {
public:
  shard_router() = default;
  explicit shard_router(std::vector<memory_shard_actor> shards)
      : shards_(std::make_shared<const std::vector<memory_shard_actor>>(std::move(shards))) {}

  const memory_shard_actor& owner_of(const cache_key& key) const {
    return (*shards_)[memory_shard_of(key.memory_hash, shards_->size())];
  }
  const std::vector<memory_shard_actor>& all() const { return *shards_; }

private:
  std::shared_ptr<const std::vector<memory_shard_actor>> shards_;
};

} // namespace hearth::actors
