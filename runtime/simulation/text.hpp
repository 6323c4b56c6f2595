// The text of messages' contents in scripts and traces: one line, the same in every process,
// without addresses. Pure functions.
#pragma once

#include "messages/protocol.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace caf {
class type_erased_tuple;
} // namespace caf

namespace hearth::simulation {

/// `"text"`, with escapes for what is not printable, shortened to about 48 bytes with its length.
std::string quoted_text(std::string_view bytes);

std::string text_of(bool flag);
std::string text_of(int number);
std::string text_of(std::int64_t number);
std::string text_of(std::uint64_t number);
std::string text_of(const std::string& text);
std::string text_of(std::chrono::milliseconds time);
std::string text_of(const error& why);
std::string text_of(const cache_key& key); ///< `fxgraph/matmul`, `fxgraph@2/"a b"`, `tunes/#7`
std::string text_of(const artifact& value);
std::string text_of(const lookup& found);      ///< `miss`, `hit disk "bytes"`
std::string text_of(const key_list& keys);     ///< the keys, separated by spaces
std::string text_of(const lookup_list& found); ///< the lookups, separated by commas
std::string text_of(insert_outcome outcome);
std::string text_of(const member_set& set); ///< `{a "bytes" 3, b "other" 4}`, with the stamps
std::string text_of(const set_change& change);
std::string text_of(const set_limits& limits);
std::string text_of(const set_lookup& found);
std::string text_of(const fleet_members& found);
std::string text_of(const set_reply& reply);
std::string text_of(const done& d);
std::string text_of(const lease_reply& reply); ///< `lease 3`, `lease 3 waited`, `hit memory "x"`
std::string text_of(const memory_shard_stats& stats);
std::string text_of(const broker_stats& stats);
std::string text_of(fleet_lease outcome);
std::string text_of(const remote_tier_stats& stats); ///< `closed`, and its counters
std::string text_of(const action_request& request);
std::string text_of(const action_result& result);
std::string text_of(const action_reply& reply);
std::string text_of(const trial_request& request);
std::string text_of(const trial_result& result);
std::string text_of(const span_list& spans);
std::string text_of(const hints& values);
std::string text_of(const guarded_reply& reply);
std::string text_of(const autotune_record& record);
std::string text_of(const autotune_address& where);
std::string text_of(const autotune_choices& choices);
std::string text_of(const autotune_found& found); ///< `best TILE=16 from disk`
std::string text_of(const tuning_notes& notes);
std::string text_of(const named_cache_ptr& cache);
std::string
text_of(const bundle_session& session); ///< `session 1 miss`, `session 2 hit 3 saved 40`
std::string text_of(const bundle_end& end);
std::string text_of(const tune_request_ptr& request);
std::string text_of(const tune_reply& reply);
std::string text_of(const metrics_page& page); ///< its samples, in one line
std::string text_of(const recording& session); ///< `2 artifacts, 30 bytes entry c/k "value"`

/// How far a shard's epoch moved: it starts at a random number.
std::string text_of(const epoch_change& epochs);
std::string text_of(const disk_insert_reply& reply);
std::string text_of(const disk_change_reply& reply);

/// A message's elements, the verb first; `?` for a type that is not part of the protocol.
std::string text_of(const caf::type_erased_tuple& content);

} // namespace hearth::simulation
