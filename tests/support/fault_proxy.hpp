// A proxy between a client and a real server of the Redis protocol that imitates faults of networks
// and servers. A test may choose the fault at any time, from any thread, also while connections are
// open. It listens on a port of 127.0.0.1, on its own thread, which ends with it.
#pragma once

#include "runtime/net/name_lookup.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace hearth::test {

enum class proxy_fault : std::uint8_t {
  none,       ///< everything passes
  refuse,     ///< no connection is accepted, and open ones end
  black_hole, ///< connections are taken; nothing comes back
  drip,       ///< replies come one byte a second
  cut,        ///< half of the next reply comes, then the connection ends
  answer,     ///< the proxy replies to commands with fixed bytes
};

class fault_proxy {
public:
  /// Proxies a server on that Unix socket, or on that port of 127.0.0.1.
  explicit fault_proxy(const std::filesystem::path& server);
  explicit fault_proxy(std::uint16_t server);
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;
  ~fault_proxy();

  std::uint16_t port() const { return port_; }
  /// "redis://127.0.0.1:PORT"
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  /// Sets the fault. Returns when the proxy applies it.
  void set(proxy_fault fault);
  /// `answer`: each of these commands ("GET", "SET"; none named: all but HELLO, AUTH, SELECT and
  /// CLIENT) gets `bytes`, the others pass. "*" means all commands.
  void answer(std::string bytes, std::vector<std::string> commands = {});
  void heal() { set(proxy_fault::none); }

  /// Replies with an error: `error("OOM command not allowed ...", {"SET"})`.
  void error(const std::string& text, std::vector<std::string> commands = {}) {
    answer("-" + text + "\r\n", std::move(commands));
  }
  void garbage() { answer("HTTP/1.1 400 Bad Request\r\n\r\n"); }
  void giant_length() { answer("$9223372036854775807\r\n"); }
  void wrong_type() { error("WRONGTYPE Operation against a key holding the wrong kind of value"); }

  /// Accepted connections, and commands other than the greeting, since the proxy began.
  std::size_t connections() const { return connections_.load(); }
  std::size_t commands() const { return commands_.load(); }
  /// Connections that are open.
  std::size_t open_connections() const { return open_.load(); }

private:
  class link;
  struct orders {
    proxy_fault fault = proxy_fault::none;
    std::string bytes;
    std::vector<std::string> commands;
  };

  void start();
  void obey(orders now);
  void run();
  std::vector<pollfd> wait() const;
  bool serve(link& one, short from_client, short from_server);
  bool is_ending();
  void take_orders();
  void accept_one();
  void listen(bool on);

  net::socket_address server_;
  std::uint16_t port_ = 0;
  os::descriptor listener_;
  os::descriptor poke_; // written when there are new orders
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<std::size_t> commands_ = 0;
  std::atomic<std::size_t> open_ = 0;
  std::vector<std::unique_ptr<link>> links_; // used by the thread only

  std::mutex mutex_;
  orders wanted_;                  // under mutex_
  std::uint64_t order_number_ = 0; // under mutex_
  std::atomic<std::uint64_t> obeyed_ = 0;
  bool ending_ = false; // under mutex_
  orders current_;      // used by the thread only
  std::thread thread_;
};

} // namespace hearth::test
