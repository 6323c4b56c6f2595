// What a process has worked on, for traces: compiles of callbacks and of programs, with what they
// waited for. Any thread.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/replies.hpp"

#include <cstddef>
#include <mutex>
#include <string>

namespace hearth::actors {

class trace_log {
public:
  /// Adds a span; beyond 100,000 it is dropped.
  void note(trace_span span);
  /// The spans since the last call, in the order of their ends.
  span_list take();

private:
  static constexpr std::size_t max_spans = 100'000;

  std::mutex mutex_; // protects spans_
  span_list spans_;
};

/// The key as traces show it: the cache's name and the key, at most 256 bytes.
std::string traced_key(const cache_key& key);

} // namespace hearth::actors
