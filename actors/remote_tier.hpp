// remote_tier: this process's view of the remote server. It looks entries up, writes behind, holds
// the fleet leases of this process, and owns the circuit breaker. A failure of the server is a miss
// or a dropped write, never an error.
//
// A pooled, event-based actor: it never blocks. Replies come through an inbox, so that one message
// tells of many. Its parts are in actors/remote_tier/.
#pragma once

#include "actors/ports/log_sink.hpp"
#include "actors/ports/remote_client.hpp"
#include "actors/remote_tier/failure_severity.hpp"
#include "actors/remote_tier/remote_gate.hpp"
#include "actors/remote_tier/reply_inbox.hpp"
#include "actors/shared_promise.hpp"
#include "messages/protocol.hpp"
#include "messages/remote_mode.hpp"
#include "storage/remote/breaker.hpp"
#include "storage/remote/envelope.hpp"
#include "storage/remote/write_behind.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hearth::actors {

struct remote_tier_config {
  std::shared_ptr<remote_client> server;
  std::string name = "the remote tier"; ///< for the log: where it is, without secrets
  std::string prefix = "hearth";        ///< of every name
  storage::signing_keys keys;
  remote_mode mode = remote_mode::read_write;
  std::chrono::milliseconds deadline{100};        ///< of lookups and leases
  std::chrono::milliseconds write_deadline{5000}; ///< of a write
  std::chrono::milliseconds probe_deadline{1000}; ///< of a probe, which no request waits for
  std::chrono::milliseconds ttl{0};               ///< of entries; zero: for ever
  std::chrono::milliseconds lease_time{30'000};   ///< without renewal
  std::uint64_t max_value_bytes = std::uint64_t{64} << 20;
  storage::write_behind_limits queue;
  storage::breaker_options breaker;
  std::string holder = "h"; ///< what the tokens of our leases begin with: unique in the fleet
  std::shared_ptr<remote_gate> gate = std::make_shared<remote_gate>();
  log_sink log;
};

struct remote_tier_state {
  static inline const char* name = "remote_tier";

  /// Keys that are looked up together.
  struct asked_entries {
    static constexpr auto answered = static_cast<std::size_t>(-1);
    key_list keys;
    lookup_list answers;             ///< misses so far
    std::vector<std::size_t> places; ///< by command: the key's, or `answered`
    std::size_t open;                ///< commands that are not answered
    shared_promise<lookup_list> reply;
  };
  struct asked_lease {
    cache_key key;
    std::string token;
    reply_target<fleet_lease> reply;
  };
  /// Gets a reply, and which command of its exchange it belongs to.
  using reply_handler = std::function<void(std::size_t, const remote_reply&)>;
  /// Commands that were sent together.
  struct exchange {
    command_purpose what;
    std::size_t open; ///< replies to come
    reply_handler next;
  };

  remote_tier_config config;
  storage::breaker service{{}};     ///< of everything
  storage::breaker writing{{}};     ///< of writes alone: out of memory, read only
  storage::write_behind writes{{}}; ///< what is not acknowledged yet
  std::shared_ptr<reply_inbox> inbox = std::make_shared<reply_inbox>();
  std::vector<reply_inbox::item> taken; ///< out of it, empty but while they are looked at
  std::unordered_map<std::uint64_t, exchange> exchanges;             ///< under way
  std::map<std::uint64_t, asked_entries> lookups;                    ///< under way, in their order
  std::unordered_map<std::uint64_t, asked_lease> lease_requests;     ///< by their tokens' numbers
  std::unordered_map<cache_key, std::string, cache_key_hash> leases; ///< held: their tokens
  /// Entries that nobody can use: the next insert of such a key replaces what is there. Bounded.
  std::unordered_set<cache_key, cache_key_hash> spoiled;
  std::vector<reply_target<done>> syncs; ///< wait for the writes
  /// Commands that are sent and not answered.
  std::uint64_t open_commands() const noexcept {
    std::uint64_t open = 0;
    for (const auto& [number, one] : exchanges)
      open += one.open;
    return open;
  }
  std::uint64_t last_exchange = 0;
  std::uint64_t last_lookup = 0;
  std::uint64_t last_token = 0;
  bool probe_is_out = false;
  bool has_answered = false;   ///< the server, ever
  bool renewal_is_due = false; ///< a timer runs
  bool retry_is_due = false;   ///< a timer runs
  bool has_scripts = true;     ///< the server runs EVAL
  remote_tier_stats counters;
  std::unordered_map<std::uint32_t, remote_cache_counts> caches; ///< by number
};

/// The remote tier over `config.server`, which it closes when it ends.
remote_tier_actor::behavior_type
remote_tier(remote_tier_actor::stateful_pointer<remote_tier_state> self, remote_tier_config config);

} // namespace hearth::actors
