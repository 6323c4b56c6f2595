// Every message of the protocol as a row of one table, made from the typed interfaces: scripts can
// send a message as soon as it is added there. Immutable; any thread.
#pragma once

#include "messages/protocol.hpp"

#include <caf/event_based_actor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hearth::simulation {

/// The kinds of actors.
enum class actor_kind : std::uint8_t {
  memory,
  disk,
  remote,
  broker,
  worker,
  guarded,
  autotune,
  bundler,
  tuner,
  kernels,
  actions,
  nested,
  recorder,
  metrics,
  chain, ///< of several remote tiers
};
/// The name that scripts use.
std::string_view to_string(actor_kind kind) noexcept;
std::optional<actor_kind> actor_kind_named(std::string_view name) noexcept;

/// How a message is sent.
enum class message_form : std::uint8_t {
  asks,  ///< a request, answered by a message
  calls, ///< a message with a completion, as from a plain thread
  tells, ///< a message without an answer
};
std::string_view to_string(message_form form) noexcept;

/// An argument of a message beside its verb. `parameter` names the alternatives, in their order.
using argument =
    std::variant<cache_key, artifact, std::uint64_t, std::string, error, action_request,
                 trial_request, std::chrono::milliseconds, hints, autotune_record, tune_request_ptr,
                 int, std::int64_t, autotune_address, autotune_choices, tuning_notes,
                 named_cache_ptr, key_list, set_change, set_limits>;
enum class parameter : std::uint8_t {
  key,
  value,
  number,
  text,
  failure,
  action,
  trial,
  duration,
  sizes,
  record,
  tuning,
  priority,
  id,
  tuning_place,
  choices,
  notes,
  cache,
  keys,
  members,
  limits,
};
/// The syntax of a parameter in scripts: "CACHE/KEY", "\"bytes\"", ...
std::string_view syntax_of(parameter p) noexcept;

/// The answer to a message that was sent.
struct answer_slot {
  bool is_there = false;
  std::string text;
  std::uint64_t number = 0; ///< a lease or session, or a number that was the whole answer
};
using answer_ptr = std::shared_ptr<answer_slot>;

struct message_row {
  actor_kind receiver;
  std::string verb;
  message_form form;
  std::vector<parameter> parameters;
  /// Sends the message; `arguments` are of the kinds of `parameters`.
  std::function<void(caf::event_based_actor& from, const caf::actor& to,
                     std::span<const argument> arguments, answer_ptr answer)>
      send;

  /// The message's syntax: "memory get CACHE/KEY".
  std::string usage() const;
};

const std::vector<message_row>& message_table();
/// The row of that message, or null.
const message_row* find_message(actor_kind receiver, std::string_view verb, message_form form);
/// The row of the same message with more parameters, or null.
const message_row* find_longer(const message_row& row);

} // namespace hearth::simulation
