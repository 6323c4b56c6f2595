#include "storage/remote/write_behind.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace hearth::storage {
namespace {

bool is_of_set(const remote_write& write) {
  return write.what == remote_write::kind::add || write.what == remote_write::kind::remove;
}

// Whether a later write of the key replaces this one. The changes of a set all count.
bool is_of_entry(const remote_write& write) {
  return write.what != remote_write::kind::release && !is_of_set(write);
}

bool is_insert(const remote_write& write) {
  return write.what == remote_write::kind::insert || write.what == remote_write::kind::overwrite;
}

std::size_t size_of_members(const remote_write& write) noexcept {
  std::size_t bytes = 0;
  for (const auto& member : write.members)
    bytes += sizeof member + member.id.size() + member.content.size();
  return bytes;
}

} // namespace

// The bytes that a queued write takes, including its places in the tables.
std::uint64_t write_behind::size_of(const remote_write& write) noexcept {
  constexpr std::uint64_t tables = 256;
  return tables + write.key.bytes.size() + write.value.payload().size() +
         write.value.metadata_bytes().size() + size_of_members(write);
}

bool write_behind::is_full() const noexcept {
  return waiting_.size() + in_flight_.size() > limits_.entries || bytes_ > limits_.bytes;
}

std::vector<remote_write> write_behind::push(remote_write write) {
  std::vector<remote_write> dropped;
  if (size_of(write) > limits_.bytes) {
    dropped.push_back(std::move(write));
    return dropped;
  }
  const auto which = ++last_;
  bytes_ += size_of(write);
  if (is_of_entry(write)) newest_[write.key] = which;
  waiting_.emplace(which, queued{std::move(write), 0});
  while (is_full()) {
    auto oldest = std::find_if(waiting_.begin(), waiting_.end(), [](const auto& one) {
      return one.second.write.what != remote_write::kind::release;
    });
    if (oldest == waiting_.end()) {
      if (waiting_.size() <= limits_.entries) break;
      oldest = waiting_.begin(); // that lease ends by its time
    }
    dropped.push_back(take(waiting_, oldest));
  }
  return dropped;
}

remote_write write_behind::take(std::map<number, queued>& from,
                                std::map<number, queued>::iterator at) {
  const auto which = at->first;
  auto write = std::move(at->second.write);
  from.erase(at);
  bytes_ -= size_of(write);
  const auto newest = newest_.find(write.key);
  if (newest != newest_.end() && newest->second == which) newest_.erase(newest);
  return write;
}

// Members lead to entries, so they are sent when the entries before them are there: a host that
// finds a member without its entry takes it for gone.
bool write_behind::has_to_wait(number which, const remote_write& write) const {
  if (limits_.erases_alone && erases_in_flight_ > 0 && is_of_entry(write) &&
      std::any_of(in_flight_.begin(), in_flight_.end(), [&](const auto& one) {
        return one.second.write.what == remote_write::kind::erase &&
               one.second.write.key == write.key;
      }))
    return true;
  return write.what == remote_write::kind::add &&
         std::any_of(in_flight_.begin(), in_flight_.lower_bound(which),
                     [](const auto& one) { return is_of_entry(one.second.write); });
}

// The first that does not have to wait. It passes over others, but not those of its key, nor
// members over entries.
std::map<write_behind::number, write_behind::queued>::iterator write_behind::next_to_send() {
  constexpr std::size_t max_passed = 1024;
  std::unordered_set<cache_key, cache_key_hash> passed;
  bool adds_wait = false; // for an entry before them, and so do all that follow
  for (auto at = waiting_.begin(); at != waiting_.end() && passed.size() < max_passed; ++at) {
    const auto& write = at->second.write;
    const bool is_add = write.what == remote_write::kind::add;
    const bool waits = (is_add && adds_wait) || (!passed.empty() && passed.contains(write.key)) ||
                       has_to_wait(at->first, write);
    if (!waits) return at;
    passed.insert(write.key);
    adds_wait = adds_wait || is_add || is_of_entry(write);
  }
  return waiting_.end();
}

bool write_behind::are_enough_in_flight() const noexcept {
  const bool are_large = bytes_in_flight_ >= limits_.bytes_in_flight;
  return in_flight_.size() >=
         (are_large ? std::min(few_in_flight, limits_.in_flight) : limits_.in_flight);
}

void write_behind::note_flight(const remote_write& write, bool begins) {
  const auto bytes = size_of(write);
  bytes_in_flight_ += begins ? bytes : -bytes;
  if (write.what == remote_write::kind::erase) erases_in_flight_ += begins ? 1 : -1;
}

const remote_write* write_behind::send_next(number& which) {
  if (are_enough_in_flight()) return nullptr;
  const auto next = next_to_send();
  if (next == waiting_.end()) return nullptr;
  auto node = waiting_.extract(next);
  which = node.key();
  auto& sent = in_flight_.insert(std::move(node)).position->second;
  ++sent.tries;
  note_flight(sent.write, true);
  return &sent.write;
}

remote_write write_behind::finish(number which) {
  const auto at = in_flight_.find(which);
  note_flight(at->second.write, false);
  return take(in_flight_, at);
}

std::optional<remote_write> write_behind::retry(number which) {
  const auto at = in_flight_.find(which);
  const auto& failed = at->second;
  note_flight(failed.write, false);
  const auto newest = newest_.find(failed.write.key);
  // Without a newest write, a later one was acknowledged or dropped meanwhile.
  const bool is_last_word =
      !is_of_entry(failed.write) || (newest != newest_.end() && newest->second == which);
  if (!is_last_word && newest != newest_.end()) find(newest->second).follows_unknown = true;
  if (failed.tries >= limits_.tries || !is_last_word) return take(in_flight_, at);
  waiting_.insert(in_flight_.extract(at));
  return std::nullopt;
}

write_behind::queued& write_behind::find(number which) {
  const auto waits = waiting_.find(which);
  return waits != waiting_.end() ? waits->second : in_flight_.at(which);
}

bool write_behind::follows_unknown(number which) const {
  const auto& one = in_flight_.at(which);
  return one.follows_unknown ||
         std::any_of(in_flight_.begin(), in_flight_.lower_bound(which), [&](const auto& earlier) {
           return is_of_entry(earlier.second.write) && earlier.second.write.key == one.write.key;
         });
}

void write_behind::apply_changes(const cache_key& key, member_set& members) const {
  std::map<number, const remote_write*> in_order;
  for (const auto* part : {&in_flight_, &waiting_})
    for (const auto& [which, one] : *part)
      if (is_of_set(one.write) && one.write.key == key) in_order.emplace(which, &one.write);
  for (const auto& [which, write] : in_order) {
    if (write->what == remote_write::kind::remove) members.remove(write->members);
    if (write->what == remote_write::kind::add)
      for (const auto& member : write->members)
        members.add(member);
  }
}

std::vector<write_behind::number> write_behind::drop_inserts(const cache_key& key) {
  std::vector<number> in_flight;
  for (const auto* newest = newest_of(key); newest && is_insert(*newest); newest = newest_of(key)) {
    const auto which = newest_.extract(key).mapped();
    if (const auto waits = waiting_.find(which); waits != waiting_.end()) {
      (void)take(waiting_, waits);
    } else {
      in_flight_.at(which).counts = false;
      in_flight.push_back(which);
    }
    note_newest(key);
  }
  return in_flight;
}

// An earlier write of the key counts again once a later one was dropped.
void write_behind::note_newest(const cache_key& key) {
  number newest = 0;
  for (const auto* queue : {&waiting_, &in_flight_}) {
    const auto last = std::find_if(queue->rbegin(), queue->rend(), [&](const auto& one) {
      return is_of_entry(one.second.write) && one.second.counts && one.second.write.key == key;
    });
    if (last != queue->rend()) newest = std::max(newest, last->first);
  }
  if (newest != 0) newest_[key] = newest;
}

const remote_write* write_behind::newest_of(const cache_key& key) const {
  const auto at = newest_.find(key);
  if (at == newest_.end()) return nullptr;
  const auto waits = waiting_.find(at->second);
  return waits != waiting_.end() ? &waits->second.write : &in_flight_.at(at->second).write;
}

bool write_behind::has_purge_after(number which, const cache_key& key) const {
  const auto is_one = [&](const auto& one) {
    return is_purge(one.second.write) && one.second.write.key == key;
  };
  return std::any_of(waiting_.upper_bound(which), waiting_.end(), is_one) ||
         std::any_of(in_flight_.upper_bound(which), in_flight_.end(), is_one);
}

} // namespace hearth::storage
