#include "runtime/cli/remote_pause.hpp"

#include "messages/hash.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "runtime/os/files/number_file.hpp"

#include <algorithm>
#include <utility>

namespace hearth::cli {
namespace {

constexpr std::uint64_t format = 0x3153'5541'5048'5248; // "HRHPAUS1"

// The numbers of the file.
enum place : std::size_t { server, end_ns, failures, count };

std::uint64_t ns_of(remote_pause::time at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count());
}

} // namespace

namespace {

const remote_config& remote_at(const config& settings, std::size_t place) {
  return place == 0 ? settings.remote : settings.remote.farther[place - 1];
}

std::string name_of(const remote_config& remote) {
  const auto endpoint = net::parse_remote_url(remote.url);
  return endpoint ? net::describe(*endpoint) : std::string();
}

} // namespace

remote_pause::remote_pause(const config& settings, std::size_t place)
    : path_(settings.store /
            (place == 0 ? "remote.pause" : "remote.pause." + std::to_string(place + 1)))
    , server_(fast_hash(remote_at(settings, place).url))
    , name_(name_of(remote_at(settings, place))) {}

bool remote_pause::may_ask(time now) {
  const os::number_file file(path_, format, count, false);
  if (!file || file.at(server).load() != server_ || file.at(failures).load() == 0) return true;
  auto end = file.at(end_ns).load();
  // A clock that was set back ends every pause.
  if (end > ns_of(now) && end <= ns_of(now + longest)) return false;
  is_trying_ = file.at(end_ns).compare_exchange_strong(end, ns_of(now + shortest));
  return is_trying_;
}

void remote_pause::tell(bool answered, time now) {
  const os::number_file file(path_, format, count, !answered);
  if (!file) return;
  const bool is_known = file.at(server).load() == server_;
  if (answered) {
    if (is_known) file.at(failures).store(0);
    return;
  }
  const bool is_paused =
      is_known && file.at(failures).load() != 0 && file.at(end_ns).load() > ns_of(now);
  if (is_paused && !is_trying_) return; // by another one that waited at the same time
  constexpr std::uint64_t most_doublings = 8;
  const auto before = is_known ? std::min(file.at(failures).load(), most_doublings) : 0;
  const std::chrono::nanoseconds pause =
      std::min<std::chrono::nanoseconds>(longest, shortest * (std::int64_t{1} << before));
  file.at(server).store(server_);
  file.at(end_ns).store(ns_of(now + pause));
  file.at(failures).store(before + 1);
}

namespace {

remote_pause::time now() { return std::chrono::system_clock::now(); }

} // namespace

std::vector<remote_pause> pause_remotes(config& host) {
  std::vector<remote_pause> asked;
  if (host.remote.url.empty() || host.store.empty()) return asked;
  std::vector<remote_config> left;
  for (std::size_t place = 0; place <= host.remote.farther.size(); ++place) {
    remote_pause one(host, place);
    if (!one.may_ask(now())) continue;
    asked.push_back(std::move(one));
    left.push_back(remote_at(host, place));
    left.back().farther.clear();
  }
  host.remote = left.empty() ? remote_config() : left.front();
  if (!left.empty()) host.remote.farther.assign(left.begin() + 1, left.end());
  return asked;
}

void tell_of_remotes(std::vector<remote_pause>& pauses, const runtime& rt) {
  if (pauses.empty()) return;
  const auto stats = rt.stats();
  if (!stats.remote) return;
  for (const auto& tier : stats.remote->tiers())
    for (auto& pause : pauses)
      if (pause.name() == tier.name) pause.tell(tier.openings == 0, now());
}

} // namespace hearth::cli
