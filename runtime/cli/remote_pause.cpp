#include "runtime/cli/remote_pause.hpp"

#include "messages/hash.hpp"
#include "runtime/os/files/number_file.hpp"

#include <algorithm>

namespace hearth::cli {
namespace {

constexpr std::uint64_t format = 0x3153'5541'5048'5248; // "HRHPAUS1"

// The numbers of the file.
enum place : std::size_t { server, end_ns, failures, count };

std::uint64_t ns_of(remote_pause::time at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count());
}

} // namespace

remote_pause::remote_pause(const config& settings)
    : path_(settings.store / "remote.pause")
    , server_(fast_hash(settings.remote.url)) {}

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

std::unique_ptr<remote_pause> pause_remote(config& host) {
  if (host.remote.url.empty() || host.store.empty()) return nullptr;
  auto pause = std::make_unique<remote_pause>(host);
  if (pause->may_ask(now())) return pause;
  host.remote = {};
  return nullptr;
}

void tell_of_remote(remote_pause* pause, const runtime& rt) {
  if (!pause) return;
  if (const auto stats = rt.stats(); stats.remote) pause->tell(stats.remote->openings == 0, now());
}

} // namespace hearth::cli
