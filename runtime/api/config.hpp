// The configuration of a runtime. Plain value.
#pragma once

#include "messages/error.hpp"
#include "messages/log_level.hpp"
#include "messages/process.hpp"
#include "messages/remote_mode.hpp"
#include "messages/visibility.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// Receives the log messages of a runtime. Called from any thread; must not block for long. What it
/// throws is dropped.
using log_callback = std::function<void(log_level, std::string_view)>;

/// The behaviour of a call when too many requests are in flight.
enum class overload_policy : std::uint8_t {
  block,  ///< the call waits until a request is answered
  refuse, ///< the call fails at once with `overloaded`
};

/// The remote tier: a server of the Redis protocol that a fleet shares (docs/remote.md).
struct remote_config {
  /// `redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS, `redis+unix:///PATH`,
  /// `redis+cluster://HOST[:PORT],...`, `redis+sentinel://HOST[:PORT],.../MASTER`; to a `hearth
  /// serve` `hearth://`, `hearths://`, `hearth+unix:///PATH`; empty: no remote tier.
  std::string url{};
  std::filesystem::path password_file{};    ///< holds the password, instead of the URL
  std::filesystem::path ca_file{};          ///< the trusted CAs; empty: those of the system
  std::filesystem::path certificate_file{}; ///< the client's, if the server asks for one
  std::filesystem::path key_file{};         ///< the key of `certificate_file`
  bool verify = true;                       ///< checks the server's certificate and name
  /// The first key of this file signs entries; only entries signed with one of its keys are
  /// accepted.
  std::filesystem::path signing_key_file{};
  std::string prefix = "hearth"; ///< prefix of every key on the server
  remote_mode mode = remote_mode::read_write;
  /// The named caches that use the remote tier, each with its parts (`autotune` includes
  /// `autotune.best`); empty: all of them.
  std::vector<std::string> caches{};
  std::chrono::milliseconds deadline{100};                 ///< time limit of one request
  std::chrono::milliseconds ttl{0};                        ///< expiry of entries; zero: never
  std::chrono::milliseconds lease_time{30'000};            ///< expiry of a lease without renewal
  std::chrono::milliseconds drain_deadline{5'000};         ///< time limit of writes at shutdown
  std::uint64_t max_value_bytes = std::uint64_t{64} << 20; ///< larger values are not sent
  std::uint64_t queue_bytes = std::uint64_t{64} << 20;     ///< bound of the queue of writes
  std::size_t queue_entries = 4096;
  /// The tiers behind this one, nearest first: each is asked when the nearer ones have missed.
  /// Their own `farther` is empty. All have signing keys, or none.
  std::vector<remote_config> farther{};
};

/// Receives, while a caller waits for another process or host that makes the same entry, a line
/// such as "waiting for process 4711 (compiling, 12 s)": after 2 s, then every 10 s. Called from
/// any thread; must not block for long. What it throws is dropped.
using wait_callback = std::function<void(std::string_view)>;

/// Runs a program of an action elsewhere, as on a build farm: called on a worker's thread, with
/// what would be run here. Empty: it is run here. The executor leaves the outputs where the
/// arguments name them and returns when the program has ended, or when the token stops. What a
/// watched program read elsewhere is unknown, so its result is kept only if `watch_programs` is
/// off.
using program_executor = std::function<std::optional<expected<process_result>>(
    const process_request& program, const std::stop_token& stop)>;

/// The configuration of a runtime. A zero or empty field selects the default in its comment.
struct config {
  std::filesystem::path store{};       ///< directory of the disk tier; empty: no disk tier
  std::uint64_t disk_budget_bytes = 0; ///< default: 10 GiB, at most a tenth of the free disk
  bool store_read_only = false;
  /// False: closing the store syncs it only if nobody has for a minute (a command line's compile).
  bool store_syncs_when_closed = true;
  bool guard_sigbus = false; ///< a file truncated while it is read is a miss (installs a handler)
  std::uint64_t memory_budget_bytes = std::uint64_t{256} << 20;
  unsigned memory_shards = 0;     ///< default: one per core
  unsigned scheduler_threads = 0; ///< for its own actor system; default: one per core, at least 2
  unsigned jobs = 0;              ///< programs run concurrently; default: one per core
  unsigned compile_threads = 0;   ///< concurrent asynchronous compiles; default: one per core
  std::filesystem::path worker{}; ///< the path of hearth-worker; empty: see `find_worker`
  /// Programs are watched while they run, so that what they read is known (docs/actions.md).
  bool watch_programs = true;
  /// The details of keys under which actions and plans make something are kept on this host's disk,
  /// so that a later miss can say what is otherwise (<hearth/explain.hpp>).
  bool keep_key_details = true;
  std::size_t max_inflight = 4096; ///< bound on requests in flight, of all handles
  overload_policy overload = overload_policy::block;
  std::chrono::milliseconds shutdown_deadline{10'000}; ///< time limit of the earlier requests
  /// How long a caller without a deadline waits for another caller's compile, in this process,
  /// another one or on another host. Then it compiles by itself; the first writer wins.
  std::chrono::milliseconds patience{300'000};
  /// Time limit of a compile callback that waits for another process's lease: two callbacks that
  /// wait for each other's leases would never end.
  std::chrono::milliseconds nested_lease_deadline{30'000};
  remote_config remote{};
  program_executor run_elsewhere{}; ///< empty: programs run here
  bool trace = false;               ///< notes every call of get_or_compile for `runtime::trace`
  log_callback log{};               ///< empty: no log
  wait_callback waits{};            ///< empty: nobody is told
};

} // namespace hearth
