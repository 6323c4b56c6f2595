#include "messages/replies.hpp"

#include <atomic>

namespace hearth {

struct offered_lease::offer {
  offer(lease_id number, std::function<void()> back)
      : id(number)
      , give_back(std::move(back)) {}
  offer(const offer&) = delete;
  offer& operator=(const offer&) = delete;
  ~offer() {
    if (give_back && !is_taken) give_back();
  }

  const lease_id id;
  const std::function<void()> give_back;
  std::atomic<bool> is_taken{false};
};

offered_lease::offered_lease(lease_id id, std::function<void()> give_back)
    : offer_(std::make_shared<offer>(id, std::move(give_back))) {}

lease_id offered_lease::id() const noexcept { return offer_ ? offer_->id : 0; }

lease_id offered_lease::take() const noexcept {
  if (offer_) offer_->is_taken = true;
  return id();
}

std::string_view to_string(tier t) noexcept {
  switch (t) {
  case tier::none: return "none";
  case tier::memory: return "memory";
  case tier::disk: return "disk";
  case tier::remote: return "remote";
  }
  return "none";
}

memory_counts& memory_counts::operator+=(const memory_counts& other) noexcept {
  for (const auto& [name, count] : memory_count_names)
    this->*count += other.*count;
  return *this;
}

memory_shard_stats& memory_shard_stats::operator+=(const memory_shard_stats& other) noexcept {
  memory_counts::operator+=(other);
  hits += other.hits;
  misses += other.misses;
  return *this;
}

std::string_view to_string(insert_outcome outcome) noexcept {
  return outcome == insert_outcome::inserted ? "inserted" : "exists";
}

std::string_view to_string(fleet_lease outcome) noexcept {
  switch (outcome) {
  case fleet_lease::ours: return "ours";
  case fleet_lease::elsewhere: return "elsewhere";
  case fleet_lease::unavailable: return "unavailable";
  }
  return "unavailable";
}

} // namespace hearth
