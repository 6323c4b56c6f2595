#include "actors/ports/trace_log.hpp"

#include "messages/key.hpp"

#include <utility>

namespace hearth::actors {

void trace_log::note(trace_span span) {
  const std::lock_guard lock(mutex_);
  if (spans_.size() < max_spans) spans_.push_back(std::move(span));
}

span_list trace_log::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(spans_, {});
}

std::string traced_key(const cache_key& at) {
  constexpr std::size_t max_bytes = 256;
  const auto decoded = key::decode(at.bytes);
  auto text = at.cache->id.name() + " " + (decoded ? decoded->describe() : "?");
  if (text.size() > max_bytes) text.resize(max_bytes);
  return text;
}

} // namespace hearth::actors
