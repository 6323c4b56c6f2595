// A request for many keys of one cache: one object into which all shards write their answers, and
// one completion after the last answer, instead of two messages for each key.
//
// The handle fills it and sends it to each shard that owns some of the keys. The shard that owns a
// key writes its answer, once; the last shard to answer delivers the batch.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/completion.hpp"
#include "messages/replies.hpp"
#include "messages/visibility.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace HEARTH_PUBLIC hearth {

using batch_completion = completion<lookup_list>;

class get_batch {
public:
  /// `answers`: the list that the shards complete; `add` gets each key's position in it.
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
  /// Answers one item, once. The last answer delivers the batch.
  void answer(std::size_t item, expected<lookup> result) {
    answers_[items_[item].position] = std::move(result);
    count_answered(1);
  }
  /// As `answer`, for a shard that reports the number of its answers with `count_answered`.
  void answer_quietly(std::size_t item, expected<lookup> result) {
    answers_[items_[item].position] = std::move(result);
  }
  void count_answered(std::size_t answered) {
    if (answered != 0 && open_.fetch_sub(answered, std::memory_order_acq_rel) == answered)
      waiting_.deliver(std::move(answers_));
  }

private:
  struct part {
    std::size_t position; // index in the answers
    std::size_t offset;   // start of the key in `bytes_`
    std::size_t bytes;
    std::uint64_t memory_hash;
  };

  named_cache_ptr cache_;
  std::string bytes_; // all keys, one after the other
  std::vector<part> items_;
  lookup_list answers_;
  std::atomic<std::size_t> open_{0};
  batch_completion waiting_;
};

using get_batch_ptr = std::shared_ptr<get_batch>;

} // namespace hearth
