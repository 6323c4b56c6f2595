#include "runtime/net/cluster/write_order.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hearth::net {
namespace {

template <class Left, class Right>
bool is_same(const Left& left, const Right& right) {
  return !left.owner_before(right) && !right.owner_before(left);
}

} // namespace

bool write_order::enter_batch(const request_ptr& write) {
  const auto& told = write->command.answered;
  if (!newest_ || !is_same(newest_->sent_together, told)) {
    newest_ = std::make_shared<write_batch>();
    newest_->sent_together = told;
  }
  write->batch = newest_;
  auto& batch = *newest_;
  const auto kept = waiting_.find(&batch);
  if (kept != waiting_.end() || (batch.open > 0 && batch.slot != write->slot)) {
    waiting_[&batch].push_back(write);
    return false;
  }
  batch.slot = write->slot;
  ++batch.open;
  return true;
}

std::vector<request_ptr> write_order::leave_batch(const cluster_request& write, bool is_lost) {
  std::vector<request_ptr> next;
  auto& batch = *write.batch;
  --batch.open;
  const auto kept = waiting_.find(&batch);
  if (kept == waiting_.end() || (batch.open > 0 && !is_lost)) return next;
  auto& waiting = kept->second;
  batch.slot = waiting.front()->slot;
  while (!waiting.empty() && (is_lost || waiting.front()->slot == batch.slot)) {
    next.push_back(std::move(waiting.front()));
    waiting.pop_front();
    ++batch.open;
  }
  if (waiting.empty()) waiting_.erase(kept);
  return next;
}

bool write_order::enter_slot(const request_ptr& write, std::uint64_t node) {
  auto& slot = slots_[*write->slot];
  if (slot.open > 0 && (slot.node != node || !slot.waiting.empty())) {
    slot.waiting.push_back(write);
    return false;
  }
  slot.node = node;
  slot.latest = std::max(slot.latest, write->number);
  ++slot.open;
  return true;
}

bool write_order::is_overtaken(const cluster_request& write) const {
  const auto at = slots_.find(*write.slot);
  return at != slots_.end() && at->second.open > 0 && at->second.latest > write.number;
}

std::vector<request_ptr> write_order::leave_slot(std::uint16_t slot) {
  const auto at = slots_.find(slot);
  if (at == slots_.end() || --at->second.open > 0) return {};
  std::vector<request_ptr> next(std::make_move_iterator(at->second.waiting.begin()),
                                std::make_move_iterator(at->second.waiting.end()));
  slots_.erase(at);
  return next;
}

std::vector<request_ptr> write_order::take_all() {
  std::vector<request_ptr> all;
  for (auto& [batch, waiting] : waiting_)
    for (auto& one : waiting)
      all.push_back(std::move(one));
  waiting_.clear();
  for (auto& [number, slot] : slots_)
    for (auto& one : std::exchange(slot.waiting, {}))
      all.push_back(std::move(one));
  std::sort(all.begin(), all.end(),
            [](const auto& one, const auto& other) { return one->number < other->number; });
  return all;
}

} // namespace hearth::net
