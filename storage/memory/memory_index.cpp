#include "storage/memory/memory_index.hpp"

#include "messages/key.hpp"
#include "storage/memory/bucket_table.hpp"
#include "storage/memory/eviction_queues.hpp"
#include "storage/memory/graveyard.hpp"
#include "storage/memory/hazard.hpp"
#include "storage/memory/index_reader.hpp"
#include "storage/memory/node_slab.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace hearth::storage {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto layout_of_build = node_layout::single;
#else
constexpr auto layout_of_build = node_layout::packed;
#endif

constexpr std::size_t retired_batch = 128;             // nodes that wait for one scan, at most
constexpr std::uint64_t retired_batch_bytes = 1 << 20; // the same in bytes
constexpr std::size_t homes_a_step = 8;    // buckets that one insert into a growing table empties
constexpr std::size_t homes_a_tick = 1024; // the same for reclaim()
constexpr std::size_t max_first_hits = 1 << 16; // hashes kept for drain_first_hits

std::size_t chunk_bytes(const memory_index_options& options) noexcept {
  const auto layout = options.layout == node_layout::by_build ? layout_of_build : options.layout;
  return layout == node_layout::packed
             ? std::clamp<std::uint64_t>(options.budget_bytes / 64, 1024, 16384)
             : 0;
}

} // namespace

class memory_index::implementation {
public:
  // Entries that compete with one another for room.
  struct partition {
    std::uint32_t cache = 0; // the owning cache; the first partition is shared
    std::uint64_t share = 0; // maximum bytes; 0: the rest of the budget
    std::uint64_t live_bytes = 0;
    eviction_queues queues;
  };

  explicit implementation(const memory_index_options& options);
  implementation(const implementation&) = delete;
  implementation& operator=(const implementation&) = delete;
  ~implementation();

  index_reader& reader() noexcept { return reader_; }
  memory_stats stats() const noexcept; ///< any thread

  // --- owner
  bool insert(const memory_key& key, const artifact& value);
  void put(const memory_key& key, const artifact& value);
  bool erase(const memory_key& key);
  artifact peek(const memory_key& key) const;
  void set_share(std::uint32_t cache, std::uint64_t bytes);
  void each(std::uint32_t cache,
            const std::function<void(std::string_view, const artifact&)>& visit) const;
  void clear();
  void reclaim();
  void go_on_growing() { grow_step(homes_a_tick); }
  bool has_leftovers() const noexcept { return !retired_.empty() || growing_into_; }
  void drain_first_hits(std::size_t limit,
                        const std::function<void(std::uint32_t, std::string_view)>& visit);
  void publish_stats() noexcept;

private:
  node* find_owned(const memory_key& key) const;
  template <class Matches>
  node* find_owned_if(std::uint64_t hash, Matches&& matches) const;
  std::uint64_t max_bytes_of_one(std::uint32_t cache) const noexcept;
  bool refuses(const memory_key& key, const artifact& value) const noexcept;
  node* make(const memory_key& key, const artifact& value) noexcept;
  void add(const memory_key& key, const artifact& value);
  void replace(node& old, const memory_key& key, const artifact& value);
  void take_out(node& gone, std::uint64_t hash);

  void place(std::uint64_t hash, node& fresh);
  void grow();
  void grow_step(std::size_t homes);
  bucket_table* newest() const noexcept { return growing_into_ ? growing_into_ : current_; }
  void erase_from_tables(const node& gone, std::uint64_t hash) noexcept;

  partition& partition_of(std::uint32_t cache) noexcept;
  const partition& partition_of(std::uint32_t cache) const noexcept;
  partition& partition_of(const node& n) noexcept { return partition_of(n.cache); }
  std::uint64_t hash_of(const node& n) const noexcept;
  // Bytes of an entry: its node and its payload.
  std::uint64_t entry_bytes(std::size_t key_size, const artifact_body& body) const noexcept {
    return node_slab::node_bytes(key_size) + charge_(body.allocated_bytes());
  }
  std::uint64_t entry_bytes(const node& n) const noexcept {
    return entry_bytes(n.key_size, *n.body);
  }
  void note_added(const node& n) noexcept;
  void note_gone(const node& n) noexcept;
  std::size_t entries() const noexcept;

  bool evict_one(partition& from);
  partition& fullest() noexcept;
  void make_room(const memory_key& key, const artifact& value);
  void shrink_to_budget();
  void retire(node& gone);
  bool any_unscanned() const noexcept { return retired_.size() > held_; }
  std::uint64_t occupied_bytes() const noexcept;
  std::uint64_t bytes_used() const noexcept;
  void gather_first_hits();

  index_reader reader_;

  // The owner's state, on cache lines of its own.
  alignas(64) const std::uint64_t budget_;
  const std::uint64_t batch_bytes_;
  const std::size_t max_fresh_hits_;
  std::vector<std::unique_ptr<bucket_table>> tables_; // all tables ever made; readers may be in any
  bucket_table* current_ = nullptr;                   // the table where readers begin
  bucket_table* growing_into_ = nullptr;              // the next table, while `current_` is emptied
  std::size_t homes_emptied_ = 0;
  const charge_function charge_;
  std::unique_ptr<node_slab> slab_;
  std::vector<std::unique_ptr<partition>> partitions_; // the first is shared
  std::uint64_t table_bytes_ = 0;
  std::uint64_t live_bytes_ = 0; // bytes of nodes and payloads
  std::vector<node*> retired_;   // nodes removed from the tables, not yet freed
  std::uint64_t retired_bytes_ = 0;
  std::size_t held_ = 0; // nodes at the front of `retired_` that the last scan found held
  std::uint64_t held_bytes_ = 0;
  hazard_scan scan_;
  std::vector<std::uint64_t> fresh_hits_; // hashes, for drain_first_hits
  memory_stats counts_;                   // the owner's part

  // The values that stats() reads.
  std::atomic<std::uint64_t> entries_{0}, bytes_used_{0}, inserted_{0}, evicted_{0}, erased_{0},
      refused_{0};
};

memory_index::implementation::implementation(const memory_index_options& options)
    : budget_(options.budget_bytes)
    , batch_bytes_(std::min(retired_batch_bytes, options.budget_bytes / 16))
    , max_fresh_hits_(std::min<std::uint64_t>(max_first_hits, options.budget_bytes / 512))
    , charge_(options.charge)
    , slab_(std::make_unique<node_slab>(chunk_bytes(options), options.charge)) {
  partitions_.push_back(std::make_unique<partition>());
  // At most as many as fit into the budget: the smallest entries take about this many bytes.
  constexpr std::uint64_t smallest_entry = 128;
  const auto entries =
      std::min<std::uint64_t>(options.expected_entries, options.budget_bytes / smallest_entry);
  tables_.push_back(bucket_table::make(bucket_table::buckets_for(entries)));
  if (!tables_.back()) throw std::bad_alloc{};
  current_ = tables_.back().get();
  table_bytes_ = current_->bytes();
  reader_.begin_at(*current_);
  publish_stats();
}

memory_index::implementation::~implementation() {
  for (auto& one : partitions_)
    one->queues.clear([this](node& n, std::uint64_t) { retired_.push_back(&n); });
  scan_.take();
  std::erase_if(retired_, [this](node* n) {
    if (scan_.holds(n)) return false;
    slab_->free(n);
    return true;
  });
  if (!retired_.empty()) bury(std::move(slab_), std::move(retired_));
  visit_graveyard();
}

memory_stats memory_index::implementation::stats() const noexcept {
  memory_stats s;
  const auto got = reader_.counts();
  s.hits = got.hits;
  s.misses = got.misses;
  s.entries = entries_.load(std::memory_order_relaxed);
  s.bytes_used = bytes_used_.load(std::memory_order_relaxed);
  s.budget_bytes = budget_;
  s.inserted = inserted_.load(std::memory_order_relaxed);
  s.evicted = evicted_.load(std::memory_order_relaxed);
  s.erased = erased_.load(std::memory_order_relaxed);
  s.refused = refused_.load(std::memory_order_relaxed);
  return s;
}

// --- owner: entries

template <class Matches>
node* memory_index::implementation::find_owned_if(std::uint64_t hash, Matches&& matches) const {
  auto* const found = current_->find_if(hash, matches);
  return found || !growing_into_ ? found : growing_into_->find_if(hash, matches);
}

node* memory_index::implementation::find_owned(const memory_key& key) const {
  return find_owned_if(key.hash, [&](const node& n) { return n.is(key.cache, key.bytes); });
}

std::uint64_t memory_index::implementation::max_bytes_of_one(std::uint32_t cache) const noexcept {
  const auto share = partition_of(cache).share;
  return (share ? share : budget_) / 4;
}

bool memory_index::implementation::refuses(const memory_key& key,
                                           const artifact& value) const noexcept {
  return !value || key.bytes.size() > max_key_bytes ||
         entry_bytes(key.bytes.size(), *value.body()) > max_bytes_of_one(key.cache);
}

node* memory_index::implementation::make(const memory_key& key, const artifact& value) noexcept {
  if (refuses(key, value)) return nullptr;
  auto* const made = slab_->make(key.cache, key.bytes, value.body());
  if (made && expiry_of(value) != 0) made->hit.store(node::expires, std::memory_order_relaxed);
  return made;
}

artifact memory_index::implementation::peek(const memory_key& key) const {
  const auto* const found = find_owned(key);
  if (!found || found->has_expired()) return {};
  found->body->add_reference();
  return artifact::adopt(const_cast<artifact_body*>(found->body));
}

bool memory_index::implementation::insert(const memory_key& key, const artifact& value) {
  if (auto* const old = find_owned(key)) {
    if (!old->has_expired()) return false;
    take_out(*old, key.hash);
  }
  make_room(key, value);
  add(key, value);
  return true;
}

void memory_index::implementation::put(const memory_key& key, const artifact& value) {
  make_room(key, value);
  if (auto* const old = find_owned(key))
    replace(*old, key, value);
  else
    add(key, value);
}

void memory_index::implementation::add(const memory_key& key, const artifact& value) {
  auto* const fresh = make(key, value);
  if (!fresh) {
    ++counts_.refused;
    return;
  }
  partition_of(*fresh).queues.add(*fresh, key.hash);
  place(key.hash, *fresh);
  note_added(*fresh);
  ++counts_.inserted;
  shrink_to_budget();
}

void memory_index::implementation::replace(node& old, const memory_key& key,
                                           const artifact& value) {
  auto* const fresh = make(key, value);
  if (!fresh) { // the old entry is out of date all the same
    ++counts_.refused;
    take_out(old, key.hash);
    return;
  }
  partition_of(old).queues.replace(old, *fresh);
  if (!current_->replace(key.hash, &old, fresh)) growing_into_->replace(key.hash, &old, fresh);
  note_added(*fresh);
  note_gone(old);
  ++counts_.inserted;
  retire(old);
  shrink_to_budget();
}

bool memory_index::implementation::erase(const memory_key& key) {
  auto* const gone = find_owned(key);
  if (!gone) return false;
  take_out(*gone, key.hash);
  ++counts_.erased;
  return true;
}

void memory_index::implementation::take_out(node& gone, std::uint64_t hash) {
  erase_from_tables(gone, hash);
  partition_of(gone).queues.remove(gone);
  note_gone(gone);
  retire(gone);
}

void memory_index::implementation::clear() {
  counts_.erased += entries();
  for (auto& one : partitions_)
    one->queues.clear([this](node& n, std::uint64_t hash) {
      erase_from_tables(n, hash);
      n.position = node::retired;
      note_gone(n);
      retire(n);
    });
  reclaim();
}

void memory_index::implementation::each(
    std::uint32_t cache,
    const std::function<void(std::string_view, const artifact&)>& visit) const {
  partition_of(cache).queues.each([&](const node& n, std::uint64_t) {
    if (n.cache != cache || n.has_expired()) return;
    n.body->add_reference();
    visit(n.key(), artifact::adopt(const_cast<artifact_body*>(n.body)));
  });
}

// --- owner: partitions

void memory_index::implementation::set_share(std::uint32_t cache, std::uint64_t bytes) {
  if (auto& now = partition_of(cache); now.share != 0) {
    now.share = bytes;
    return;
  }
  std::vector<std::pair<node*, std::uint64_t>> old;
  partitions_[0]->queues.each([&](node& n, std::uint64_t hash) {
    if (n.cache == cache) old.emplace_back(&n, hash);
  });
  for (const auto& [gone, hash] : old)
    take_out(*gone, hash);
  partitions_.push_back(std::make_unique<partition>());
  partitions_.back()->cache = cache;
  partitions_.back()->share = bytes;
}

const memory_index::implementation::partition&
memory_index::implementation::partition_of(std::uint32_t cache) const noexcept {
  for (std::size_t i = 1; i < partitions_.size(); ++i)
    if (partitions_[i]->cache == cache) return *partitions_[i];
  return *partitions_[0];
}

memory_index::implementation::partition&
memory_index::implementation::partition_of(std::uint32_t cache) noexcept {
  return const_cast<partition&>(std::as_const(*this).partition_of(cache));
}

std::uint64_t memory_index::implementation::hash_of(const node& n) const noexcept {
  return partition_of(n.cache).queues.hash_of(n);
}

void memory_index::implementation::note_added(const node& n) noexcept {
  const auto bytes = entry_bytes(n);
  live_bytes_ += bytes;
  partition_of(n).live_bytes += bytes;
}

void memory_index::implementation::note_gone(const node& n) noexcept {
  const auto bytes = entry_bytes(n);
  live_bytes_ -= bytes;
  partition_of(n).live_bytes -= bytes;
}

std::size_t memory_index::implementation::entries() const noexcept {
  std::size_t sum = 0;
  for (const auto& one : partitions_)
    sum += one->queues.size();
  return sum;
}

// --- owner: tables

void memory_index::implementation::place(std::uint64_t hash, node& fresh) {
  grow_step(homes_a_step);
  if (newest()->is_full()) grow();
  if (newest()->insert(hash, &fresh)) return;
  // Every bucket that may hold the entry is full: many keys have one hash, or no memory to grow.
  auto* const victim = newest()->neighbour(hash);
  take_out(*victim, hash_of(*victim));
  ++counts_.evicted;
  newest()->insert(hash, &fresh);
}

void memory_index::implementation::grow() {
  grow_step(current_->size());
  auto larger = bucket_table::make(current_->size() * 2);
  if (!larger) return;
  tables_.push_back(std::move(larger));
  growing_into_ = tables_.back().get();
  table_bytes_ += growing_into_->bytes();
  homes_emptied_ = 0;
  current_->set_next(growing_into_);
}

void memory_index::implementation::grow_step(std::size_t homes) {
  if (!growing_into_) return;
  const auto hash_of = [this](const node& n) { return this->hash_of(n); };
  const auto drop = [this](node& n, std::uint64_t) {
    partition_of(n).queues.remove(n);
    note_gone(n);
    ++counts_.evicted;
    retire(n);
  };
  for (; homes > 0 && homes_emptied_ < current_->size(); --homes)
    current_->empty_home(homes_emptied_++, hash_of, drop);
  if (homes_emptied_ < current_->size()) return;
  reader_.begin_at(*growing_into_);
  table_bytes_ -= current_->bytes();
  current_->discard();
  table_bytes_ += current_->bytes();
  current_ = std::exchange(growing_into_, nullptr);
}

void memory_index::implementation::erase_from_tables(const node& gone,
                                                     std::uint64_t hash) noexcept {
  if (!current_->erase(hash, &gone) && growing_into_) growing_into_->erase(hash, &gone);
}

// --- owner: memory

bool memory_index::implementation::evict_one(partition& from) {
  const auto victim = from.queues.take_victim();
  if (!victim.held) return false;
  erase_from_tables(*victim.held, victim.hash);
  note_gone(*victim.held);
  ++counts_.evicted;
  retire(*victim.held);
  return true;
}

// Partitions with a share stay within it, so the shared partition is the one to evict from, unless
// it is empty.
memory_index::implementation::partition& memory_index::implementation::fullest() noexcept {
  if (partitions_[0]->queues.size() > 0) return *partitions_[0];
  return **std::max_element(
      partitions_.begin(), partitions_.end(),
      [](const auto& a, const auto& b) { return a->live_bytes < b->live_bytes; });
}

void memory_index::implementation::make_room(const memory_key& key, const artifact& value) {
  if (refuses(key, value)) return;
  const auto bytes = entry_bytes(key.bytes.size(), *value.body());
  auto& own = partition_of(key.cache);
  while (own.share != 0 && own.live_bytes + bytes > own.share && evict_one(own)) {
  }
  while (occupied_bytes() + bytes + batch_bytes_ > budget_ && evict_one(fullest())) {
  }
}

// Evicts again, since tables, slab and queues may have grown after make_room.
void memory_index::implementation::shrink_to_budget() {
  if (bytes_used() <= budget_) return;
  while (occupied_bytes() > budget_ && evict_one(fullest())) {
  }
  if (any_unscanned()) reclaim();
}

void memory_index::implementation::retire(node& gone) {
  retired_.push_back(&gone);
  retired_bytes_ += entry_bytes(gone);
  if (retired_.size() - held_ >= retired_batch || retired_bytes_ - held_bytes_ >= batch_bytes_)
    reclaim();
}

void memory_index::implementation::reclaim() {
  if (retired_.empty()) return;
  scan_.take();
  // After the scan: a reader that pushes a node to the first-hit list holds that node, so for every
  // node that the scan finds free the push is complete.
  gather_first_hits();
  retired_bytes_ = 0;
  std::erase_if(retired_, [this](node* n) {
    if (scan_.holds(n)) {
      retired_bytes_ += entry_bytes(*n);
      return false;
    }
    slab_->free(n);
    return true;
  });
  held_ = retired_.size();
  held_bytes_ = retired_bytes_;
}

// The bytes in use once all retired nodes are freed, except those that readers hold.
std::uint64_t memory_index::implementation::occupied_bytes() const noexcept {
  std::uint64_t queues = 0;
  for (const auto& one : partitions_)
    queues += one->queues.bytes();
  return live_bytes_ + held_bytes_ + slab_->slack_bytes() + table_bytes_ + queues +
         (retired_.capacity() + fresh_hits_.capacity()) * sizeof(std::uint64_t);
}

std::uint64_t memory_index::implementation::bytes_used() const noexcept {
  return occupied_bytes() + retired_bytes_ - held_bytes_;
}

void memory_index::implementation::gather_first_hits() {
  auto* n = reader_.take_first_hits();
  for (; n; n = n->next_first_hit)
    if (n->position != node::retired && fresh_hits_.size() < max_fresh_hits_)
      fresh_hits_.push_back(hash_of(*n));
}

void memory_index::implementation::drain_first_hits(
    std::size_t limit, const std::function<void(std::uint32_t, std::string_view)>& visit) {
  gather_first_hits();
  while (limit > 0 && !fresh_hits_.empty()) {
    const auto hash = fresh_hits_.back();
    fresh_hits_.pop_back();
    const auto* const n = find_owned_if(hash, [](node& candidate) {
      const auto hit = candidate.hit.load(std::memory_order_relaxed);
      if (!(hit & node::hit_ever) || (hit & node::hit_told)) return false;
      candidate.hit.fetch_or(node::hit_told, std::memory_order_relaxed);
      return true;
    });
    if (!n) continue; // the entry was removed meanwhile
    visit(n->cache, n->key());
    --limit;
  }
}

void memory_index::implementation::publish_stats() noexcept {
  entries_.store(entries(), std::memory_order_relaxed);
  bytes_used_.store(bytes_used(), std::memory_order_relaxed);
  inserted_.store(counts_.inserted, std::memory_order_relaxed);
  evicted_.store(counts_.evicted, std::memory_order_relaxed);
  erased_.store(counts_.erased, std::memory_order_relaxed);
  refused_.store(counts_.refused, std::memory_order_relaxed);
}

// --- the interface

memory_index::memory_index(memory_index_options options)
    : self_(std::make_unique<implementation>(options))
    , reader_(self_->reader()) {}

memory_index::~memory_index() = default;

memory_stats memory_index::stats() const noexcept { return self_->stats(); }

artifact memory_index::peek(const memory_key& key) const { return self_->peek(key); }

bool memory_index::insert(const memory_key& key, const artifact& value) {
  const bool is_new = self_->insert(key, value);
  self_->publish_stats();
  return is_new;
}

void memory_index::put(const memory_key& key, const artifact& value) {
  self_->put(key, value);
  self_->publish_stats();
}

bool memory_index::erase(const memory_key& key) {
  const bool was_there = self_->erase(key);
  self_->publish_stats();
  return was_there;
}

void memory_index::set_share(std::uint32_t cache, std::uint64_t bytes) {
  self_->set_share(cache, bytes);
  self_->publish_stats();
}

void memory_index::each(std::uint32_t cache,
                        const std::function<void(std::string_view, const artifact&)>& visit) const {
  self_->each(cache, visit);
}

bool memory_index::has_leftovers() const noexcept { return self_->has_leftovers(); }

void memory_index::clear() {
  self_->clear();
  self_->publish_stats();
}

void memory_index::reclaim() {
  self_->reclaim();
  self_->go_on_growing();
  visit_graveyard();
  self_->publish_stats();
}

void memory_index::drain_first_hits(
    std::size_t limit, const std::function<void(std::uint32_t, std::string_view)>& visit) {
  self_->drain_first_hits(limit, visit);
  self_->publish_stats();
}

} // namespace hearth::storage
