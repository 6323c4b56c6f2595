// How a runtime is set up. Plain value.
#pragma once

#include "messages/log_level.hpp"
#include "messages/remote_mode.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Told what happens beside the answers. Called from any thread; must not block for long.
using log_callback = std::function<void(log_level, std::string_view)>;

/// What a call does when too many requests are in flight.
enum class overload_policy : std::uint8_t {
  block,  ///< wait until one is answered
  refuse, ///< fail at once with `overloaded`
};

/// The remote tier: a server of the Redis protocol that a fleet shares (docs/remote.md).
struct remote_config {
  /// `redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS, `redis+unix:///PATH`;
  /// empty: no remote tier.
  std::string url;
  std::filesystem::path password_file;    ///< its first line, instead of a password in the URL
  std::filesystem::path ca_file;          ///< who is trusted; empty: whom the system trusts
  std::filesystem::path certificate_file; ///< ours, for a server that asks
  std::filesystem::path key_file;         ///< of ours
  bool verify = true;                     ///< the server's certificate and host name
  /// Entries are signed with the first key of this file and taken only when signed by one of them.
  std::filesystem::path signing_key_file;
  std::string prefix = "hearth"; ///< of every name in the server
  remote_mode mode = remote_mode::read_write;
  /// The named caches that use it, each with its parts (`autotune` is `autotune.best`, too); empty:
  /// all of them.
  std::vector<std::string> caches;
  std::chrono::milliseconds deadline{100};         ///< of a request to the server
  std::chrono::milliseconds ttl{0};                ///< of entries; zero: for ever
  std::chrono::milliseconds lease_time{30'000};    ///< of a compile lease without renewal
  std::chrono::milliseconds drain_deadline{5'000}; ///< at shutdown, for what is still to be written
  std::uint64_t max_value_bytes = std::uint64_t{64} << 20; ///< larger ones are not sent
  std::uint64_t queue_bytes = std::uint64_t{64} << 20;     ///< of what is written behind
  std::size_t queue_entries = 4096;
};

/// Zero and empty mean: choose.
struct config {
  std::filesystem::path store;         ///< directory of the disk tier; empty: no disk tier
  std::uint64_t disk_budget_bytes = 0; ///< 10 GiB, never more than a tenth of the free disk
  bool store_read_only = false;
  bool guard_sigbus = false; ///< a file cut under a reader is a miss (installs a handler)
  std::uint64_t memory_budget_bytes = std::uint64_t{256} << 20;
  unsigned memory_shards = 0;      ///< one a core
  unsigned scheduler_threads = 0;  ///< of an actor system of our own; one a core, at least 2
  unsigned jobs = 0;               ///< programs at once; one a core
  unsigned compile_threads = 0;    ///< asynchronous compile callbacks at once; one a core
  std::filesystem::path worker;    ///< the program hearth-worker, when it is not beside us
  std::size_t max_inflight = 4096; ///< requests in flight, of all handles
  overload_policy overload = overload_policy::block;
  std::chrono::milliseconds shutdown_deadline{10'000}; ///< for what was asked before shutdown
  /// How long a compile callback waits for a lease of another process: two callbacks that wait for
  /// each other's would never end.
  std::chrono::milliseconds nested_lease_deadline{30'000};
  remote_config remote;
  log_callback log; ///< empty: nothing is told
};

} // namespace hearth
