#include "runtime/server/entries/store_watch.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hearth::server {

store_watch::handle store_watch::watch(std::uint64_t key_hash, std::function<void()> told) {
  auto kept = std::make_shared<const std::function<void()>>(std::move(told));
  {
    const std::lock_guard lock(mutex_);
    watches_.emplace(key_hash, kept);
    count_ = watches_.size();
  }
  return {nullptr, [self = shared_from_this(), key_hash, kept = std::move(kept)](void*) {
            self->end(key_hash, kept);
          }};
}

void store_watch::end(std::uint64_t key_hash, const told_callback& told) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = watches_.equal_range(key_hash);
  const auto at = std::find_if(first, last, [&](const auto& one) { return one.second == told; });
  watches_.erase(at);
  count_ = watches_.size();
}

void store_watch::note_stored(std::uint64_t key_hash) {
  if (count_ == 0) return;
  std::vector<told_callback> all;
  {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = watches_.equal_range(key_hash);
    for (auto at = first; at != last; ++at)
      all.push_back(at->second);
  }
  for (const auto& told : all)
    (*told)();
}

} // namespace hearth::server
