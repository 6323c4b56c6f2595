#include "storage/memory/node_slab.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace hearth::storage {

struct alignas(16) node_slab::chunk {
  chunk* previous = nullptr;
  chunk* next = nullptr;
  free_node* freed = nullptr; // list of freed nodes
  std::uint32_t node_size = 0;
  std::uint8_t capacity = 0;
  std::uint8_t touched = 0; // number of nodes allocated at least once
  std::uint8_t used = 0;

  char* at(std::size_t place) noexcept {
    return reinterpret_cast<char*>(this) + sizeof(chunk) + place * node_size;
  }
  static chunk* of(node* n, std::size_t node_size) noexcept {
    return reinterpret_cast<chunk*>(reinterpret_cast<char*>(n) - sizeof(chunk) -
                                    n->place * node_size);
  }
  std::size_t bytes() const noexcept { return sizeof(chunk) + std::size_t{capacity} * node_size; }
};

namespace {

// Allocates memory at an address of 48 bits, which a word of the table can hold. The kernel returns
// no higher address unless asked.
void* allocate(std::size_t bytes) noexcept {
  void* memory = std::malloc(bytes);
  if (reinterpret_cast<std::uintptr_t>(memory) >> 48 == 0) return memory;
  std::free(memory);
  return nullptr;
}

} // namespace

node* node_slab::make(std::uint32_t cache, std::string_view key,
                      const artifact_body* body) noexcept {
  const auto bytes = node_bytes(key.size());
  auto* const made =
      chunk_bytes_ == 0 || bytes > largest_dense ? take_standalone(bytes) : take(bytes);
  if (!made) return nullptr;
  used_ += bytes;
  made->cache = cache;
  made->key_size = static_cast<std::uint16_t>(key.size());
  if (!key.empty()) std::memcpy(made->key_data(), key.data(), key.size());
  body->add_reference();
  made->body = body;
  return made;
}

node* node_slab::take_standalone(std::size_t bytes) noexcept {
  void* memory = allocate(bytes);
  if (!memory) return nullptr;
  allocated_ += charge_(bytes);
  return new (memory) node;
}

node* node_slab::take(std::size_t bytes) noexcept {
  auto* from = with_room_[bytes / 8];
  if (!from) from = add_chunk(bytes);
  if (!from) return nullptr;
  void* memory = from->freed;
  if (from->freed)
    from->freed = from->freed->next;
  else
    memory = from->at(from->touched++);
  if (++from->used == from->capacity) unlink(*from);
  auto* const made = new (memory) node;
  made->place = static_cast<std::uint8_t>((reinterpret_cast<char*>(made) - from->at(0)) / bytes);
  return made;
}

node_slab::chunk* node_slab::add_chunk(std::size_t bytes) noexcept {
  const auto count = std::clamp<std::size_t>(chunk_bytes_ / bytes, 1, node::standalone);
  void* memory = allocate(sizeof(chunk) + count * bytes);
  if (!memory) return nullptr;
  auto* const made = new (memory) chunk;
  made->node_size = static_cast<std::uint32_t>(bytes);
  made->capacity = static_cast<std::uint8_t>(count);
  allocated_ += charge_(made->bytes());
  link(*made);
  return made;
}

void node_slab::free(node* gone) noexcept {
  gone->body->drop_reference();
  const auto bytes = node_bytes(gone->key_size);
  used_ -= bytes;
  if (gone->place == node::standalone) {
    gone->~node();
    std::free(gone);
    allocated_ -= charge_(bytes);
    return;
  }
  auto* const from = chunk::of(gone, bytes);
  gone->~node();
  from->freed = new (gone) free_node{from->freed};
  if (from->used == from->capacity) link(*from);
  if (--from->used > 0) return;
  unlink(*from);
  allocated_ -= charge_(from->bytes());
  std::free(from);
}

void node_slab::link(chunk& c) noexcept {
  auto*& first = with_room_[c.node_size / 8];
  c.previous = nullptr;
  c.next = first;
  if (first) first->previous = &c;
  first = &c;
}

void node_slab::unlink(chunk& c) noexcept {
  (c.previous ? c.previous->next : with_room_[c.node_size / 8]) = c.next;
  if (c.next) c.next->previous = c.previous;
}

} // namespace hearth::storage
