// Where the nodes of one memory index live: chunks of nodes of one size, packed.
//
// Owner: the index; only the index's owner calls it. A chunk without nodes goes back to the
// allocator at once.
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
  /// `chunk_bytes`: about how large a chunk is; 0 allocates every node by itself, so that a
  /// sanitizer sees the use of one that was freed.
  explicit node_slab(std::size_t chunk_bytes, charge_function charge = allocator_charge) noexcept
      : chunk_bytes_(chunk_bytes)
      , charge_(charge) {}
  node_slab(const node_slab&) = delete;
  node_slab& operator=(const node_slab&) = delete;
  /// Every node has been freed by then.
  ~node_slab() = default;

  /// A node that holds the key and a reference on `body`; null when memory is short.
  node* make(std::uint32_t cache, std::string_view key, const artifact_body* body) noexcept;
  /// Drops its reference on the body, and the node.
  void free(node* gone) noexcept;

  /// Bytes of all chunks, as the allocator counts them.
  std::size_t allocated_bytes() const noexcept { return allocated_; }
  /// The part of them that is in no node.
  std::size_t slack_bytes() const noexcept { return allocated_ - used_; }
  /// Bytes that a node with such a key takes of a chunk.
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
  std::size_t used_ = 0; // by nodes
  // For each size in steps of 8: the chunks that have room.
  std::array<chunk*, largest_dense / 8 + 1> with_room_{};
};

} // namespace hearth::storage
