// The allocator of one memory index's nodes: chunks of nodes of one size, packed.
//
// Owner: the index; only the index's owner calls it. It frees a chunk without nodes at once.
#pragma once

#include "storage/memory/allocator_charge.hpp"
#include "storage/memory/node.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth::storage {

class node_slab {
public:
  /// `chunk_bytes`: the approximate size of a chunk; 0 allocates every node by itself, so that a
  /// sanitizer detects a use after free.
  explicit node_slab(std::size_t chunk_bytes, charge_function charge = allocator_charge) noexcept
      : chunk_bytes_(chunk_bytes)
      , charge_(charge) {}
  node_slab(const node_slab&) = delete;
  node_slab& operator=(const node_slab&) = delete;
  /// All nodes must have been freed.
  ~node_slab() = default;

  /// Makes a node that holds the key and a reference on `body`; null when memory is short.
  node* make(std::uint32_t cache, std::string_view key, const artifact_body* body) noexcept;
  /// Drops the node's reference on the body, and frees the node.
  void free(node* gone) noexcept;

  /// Bytes of all chunks, as the allocator counts them.
  std::size_t allocated_bytes() const noexcept { return allocated_; }
  /// The part of these bytes that is in no node.
  std::size_t slack_bytes() const noexcept { return allocated_ - used_; }
  /// Bytes that a node with a key of this size takes in a chunk.
  static constexpr std::size_t node_bytes(std::size_t key_size) noexcept {
    const auto bytes = node::key_offset + key_size;
    return bytes <= sizeof(node) ? sizeof(node) : (bytes + 7) / 8 * 8;
  }

private:
  struct chunk;
  struct free_node {
    free_node* next;
  };
  static constexpr std::size_t largest_dense = 512;

  node* take(std::size_t bytes) noexcept;
  node* take_standalone(std::size_t bytes) noexcept;
  chunk* add_chunk(std::size_t bytes) noexcept;
  void unlink(chunk& c) noexcept;
  void link(chunk& c) noexcept;

  std::size_t chunk_bytes_;
  charge_function charge_;
  std::size_t allocated_ = 0;
  std::size_t used_ = 0; // bytes in nodes
  // For each size in steps of 8: the chunks that have room.
  std::array<chunk*, largest_dense / 8 + 1> with_room_{};
};

} // namespace hearth::storage
