// Many keys of one cache asked for together: one object that all shards answer into, and one
// completion when the last has, instead of a message a key each way.
//
// The handle fills it and sends it to each shard that owns some of the keys. Each answer is written
// once, by the shard that owns its key; whoever answers last delivers.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/completion.hpp"
#include "messages/replies.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

using batch_completion = completion<lookup_list>;

class get_batch {
public:
  /// `answers`: where the rest is answered into; the position of each key is given to `add`.
  get_batch(named_cache_ptr in, lookup_list answers)
      : cache_(std::move(in))
      , answers_(std::move(answers)) {}

  // --- the handle, before it is sent

  void add(std::size_t position, std::string_view key_bytes, std::uint64_t memory_hash) {
    items_.push_back({position, bytes_.size(), key_bytes.size(), memory_hash});
    bytes_ += key_bytes;
    open_.store(items_.size(), std::memory_order_relaxed);
  }
  void deliver_to(batch_completion waiting) { waiting_ = std::move(waiting); }
  std::size_t size() const noexcept { return items_.size(); }
  lookup_list take_answers() { return std::move(answers_); }

  // --- shards

  const named_cache_ptr& cache() const noexcept { return cache_; }
  std::uint64_t memory_hash(std::size_t item) const noexcept { return items_[item].memory_hash; }
  std::string_view key_bytes(std::size_t item) const noexcept {
    return std::string_view(bytes_).substr(items_[item].offset, items_[item].bytes);
  }
  cache_key key(std::size_t item) const {
    return {cache_, key_bytes(item), items_[item].memory_hash};
  }
  /// Answers one item, once. The last one delivers.
  void answer(std::size_t item, expected<lookup> result) {
    answers_[items_[item].position] = std::move(result);
    count_answered(1);
  }
  /// The same, for a shard that says by `count_answered` how many it answered.
  void answer_quietly(std::size_t item, expected<lookup> result) {
    answers_[items_[item].position] = std::move(result);
  }
  void count_answered(std::size_t answered) {
    if (answered != 0 && open_.fetch_sub(answered, std::memory_order_acq_rel) == answered)
      waiting_.deliver(std::move(answers_));
  }

private:
  struct part {
    std::size_t position; // among the answers
    std::size_t offset;   // of the key in `bytes_`
    std::size_t bytes;
    std::uint64_t memory_hash;
  };

  named_cache_ptr cache_;
  std::string bytes_; // all keys, one behind the other
  std::vector<part> items_;
  lookup_list answers_;
  std::atomic<std::size_t> open_{0};
  batch_completion waiting_;
};

using get_batch_ptr = std::shared_ptr<get_batch>;

} // namespace hearth
