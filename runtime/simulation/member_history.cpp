#include "runtime/simulation/member_history.hpp"

#include "runtime/simulation/text.hpp"

#include <algorithm>
#include <utility>

namespace hearth::simulation {

std::size_t member_history::begin(moment now, const std::string& host, std::string process,
                                  std::string bytes) {
  const auto number = hosts_[host].begin(now, bytes, false);
  writes_.push_back({host, std::move(process), std::move(bytes), number, now});
  return writes_.size() - 1;
}

void member_history::succeed(std::size_t number, moment now, bool knew_fleet) {
  auto& one = writes_[number];
  one.end = now;
  one.knew_fleet = knew_fleet;
  hosts_[one.host].succeed(one.number, now);
}

void member_history::withdraw(std::size_t number) {
  auto& one = writes_[number];
  one.bytes.clear();
  hosts_[one.host].withdraw(one.number);
}

bool member_history::has(std::string_view bytes, moment ended) const {
  return std::any_of(writes_.begin(), writes_.end(),
                     [&](const write& one) { return one.bytes == bytes && one.start <= ended; });
}

std::string member_history::judge_hit(const std::string& host, std::string_view bytes, moment begun,
                                      moment ended) const {
  if (!has(bytes, ended)) return "bytes that nobody wrote " + quoted_text(bytes);
  const auto at = hosts_.find(host);
  if (!hosts_keep_it_ || at == hosts_.end() || !at->second.has(bytes)) return {};
  return at->second.judge_hit(bytes, begun, ended);
}

std::string member_history::judge_miss(const std::string& host, moment begun, moment ended) const {
  const auto at = hosts_.find(host);
  return !hosts_keep_it_ || at == hosts_.end() ? std::string()
                                               : at->second.judge_miss(begun, ended);
}

void member_history::see(const std::string& host, std::string_view bytes, moment begun,
                         moment ended) {
  auto& past = hosts_[host];
  if (!past.has(bytes)) past.succeed(past.begin(begun, std::string(bytes), false), ended);
}

void member_history::reach_fleet(std::string_view process, moment now) {
  for (auto& one : writes_)
    if (one.process == process && one.end != history::never && one.reached == history::never)
      one.reached = now;
}

void member_history::end_process(std::string_view process) {
  for (auto& one : writes_)
    if (one.process == process && one.reached == history::never) one.process.clear();
}

void member_history::lose_after(const std::string& host, moment durable) {
  for (auto& one : writes_)
    if (one.host == host && one.end >= durable) one.end = history::never;
  hosts_[host].lose_after(durable);
}

// Whether `a` is certainly later than `b`: its writer knew `b`.
bool member_history::is_later(const write& a, const write& b) const {
  const bool same_host = hosts_keep_it_ && a.host == b.host && b.end < a.start;
  return same_host || (a.knew_fleet && b.reached < a.start);
}

std::string member_history::judge_hit_at_end(std::string_view bytes) const {
  std::string wrong;
  for (const auto& found : writes_) {
    if (found.bytes != bytes) continue;
    const auto later = std::find_if(writes_.begin(), writes_.end(), [&](const write& one) {
      return one.reached != history::never && is_later(one, found);
    });
    if (later == writes_.end()) return {};
    wrong = quoted_text(bytes) + ", which " + quoted_text(later->bytes) + " of " + later->host +
            " had replaced";
  }
  return wrong;
}

std::string member_history::judge_miss_at_end() const {
  for (const auto& one : writes_)
    if (one.reached != history::never)
      return "a miss, although the server had " + quoted_text(one.bytes) + " of " + one.host;
  return {};
}

} // namespace hearth::simulation
