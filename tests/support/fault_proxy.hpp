// Stands between a client and a real server of the Redis protocol and, as it is told, misbehaves as
// networks and servers do: told at any time, from any thread, also while connections are open. On a
// port of 127.0.0.1, with a thread of its own that ends with it.
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
  refuse,     ///< no connection is taken, and those there are end
  black_hole, ///< connections are taken; nothing comes back
  drip,       ///< what comes back comes a byte a second
  cut,        ///< of the next reply a half comes back, then the connection ends
  answer,     ///< commands get fixed bytes for an answer
};

class fault_proxy {
public:
  /// In front of a server on that Unix socket, or on that port of 127.0.0.1.
  explicit fault_proxy(const std::filesystem::path& server);
  explicit fault_proxy(std::uint16_t server);
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;
  ~fault_proxy();

  std::uint16_t port() const { return port_; }
  /// "redis://127.0.0.1:PORT"
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  /// From now on. Returns when the proxy does so.
  void set(proxy_fault fault);
  /// `answer`: each of these commands ("GET", "SET"; none named: all but HELLO, AUTH, SELECT and
  /// CLIENT) gets `bytes`, the others pass. "*" stands for all.
  void answer(std::string bytes, std::vector<std::string> commands = {});
  void heal() { set(proxy_fault::none); }

  /// An error reply: `error("OOM command not allowed ...", {"SET"})`.
  void error(const std::string& text, std::vector<std::string> commands = {}) {
    answer("-" + text + "\r\n", std::move(commands));
  }
  void garbage() { answer("HTTP/1.1 400 Bad Request\r\n\r\n"); }
  void giant_length() { answer("$9223372036854775807\r\n"); }
  void wrong_type() { error("WRONGTYPE Operation against a key holding the wrong kind of value"); }

  /// Connections taken, and commands seen but for the greeting, since it began.
  std::size_t connections() const { return connections_.load(); }
  std::size_t commands() const { return commands_.load(); }

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
  os::descriptor poke_; // written to when there are orders
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<std::size_t> commands_ = 0;
  std::vector<std::unique_ptr<link>> links_; // the thread's

  std::mutex mutex_;
  orders wanted_;                  // under mutex_
  std::uint64_t order_number_ = 0; // under mutex_
  std::atomic<std::uint64_t> obeyed_ = 0;
  bool ending_ = false; // under mutex_
  orders current_;      // the thread's
  std::thread thread_;
};

} // namespace hearth::test
