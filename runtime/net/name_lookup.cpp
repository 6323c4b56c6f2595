#include "runtime/net/name_lookup.hpp"

#include "runtime/os/quiet_thread.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <netdb.h>
#include <sys/un.h>
#include <thread>

namespace hearth::net {

expected<host_addresses> resolve_by_system(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failure != 0)
    return fail(errc::remote, "cannot find the host " + host + ": " + ::gai_strerror(failure));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &::freeaddrinfo);
  host_addresses addresses{host, {}};
  for (const auto* one = found; one; one = one->ai_next) {
    auto& address = addresses.all.emplace_back();
    address.size = std::min<socklen_t>(one->ai_addrlen, sizeof address.bytes);
    std::memcpy(&address.bytes, one->ai_addr, address.size);
  }
  if (addresses.all.empty()) return fail(errc::remote, "the host " + host + " has no address");
  return addresses;
}

socket_address unix_address(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const auto length = std::min(path.size(), sizeof name.sun_path - 1);
  std::memcpy(name.sun_path, path.data(), length);
  socket_address address;
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length + 1);
  std::memcpy(&address.bytes, &name, sizeof name);
  return address;
}

struct name_lookup::running {
  std::thread thread;
  std::atomic<bool> has_answered = false;
};

name_lookup::name_lookup(name_resolver resolve)
    : resolve_(std::move(resolve)) {}

void name_lookup::stop() {
  if (!running_) return;
  if (running_->has_answered.load(std::memory_order_acquire))
    running_->thread.join();
  else
    running_->thread.detach();
  running_.reset();
}

bool name_lookup::start(std::string host, std::uint16_t port, answer_callback answered) {
  if (running_ && !running_->has_answered.load(std::memory_order_acquire)) return false;
  stop();
  auto now = std::make_shared<running>();
  auto look = [now, resolve = resolve_, host = std::move(host), port,
               answered = std::move(answered)] {
    auto answer = resolve(host, port);
    // Set first: the callback may start the next lookup at once.
    now->has_answered.store(true, std::memory_order_release);
    answered(std::move(answer));
  };
  auto thread = os::start_quiet_thread("hearth-lookup", std::move(look));
  if (!thread) return false;
  now->thread = std::move(*thread);
  running_ = std::move(now);
  return true;
}

} // namespace hearth::net
