// Every verb and every type that travels in a message. This header alone lists them.
#pragma once

#include "messages/cache_key.hpp"
#include "messages/completion.hpp"
#include "messages/get_batch.hpp"
#include "messages/member_set.hpp"
#include "messages/metrics_page.hpp"
#include "messages/recording.hpp"
#include "messages/replies.hpp"
#include "messages/tuning.hpp"
#include "messages/visibility.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/type_id.hpp>

#include <map>
#include <string>
#include <vector>

namespace HEARTH_PUBLIC hearth {
using lookup_completion = completion<lookup>;
using insert_completion = completion<insert_outcome>;
using done_completion = completion<done>;
using flag_completion = completion<bool>;
using lease_completion = completion<lease_reply>;
using action_completion = completion<action_reply>;
} // namespace hearth

// Verbs: at most 10 characters each.
CAF_BEGIN_TYPE_ID_BLOCK(hearth, first_custom_type_id)

CAF_ADD_ATOM(hearth, hearth::verb, get, "get")
CAF_ADD_ATOM(hearth, hearth::verb, insert, "insert")
CAF_ADD_ATOM(hearth, hearth::verb, put, "put")
CAF_ADD_ATOM(hearth, hearth::verb, erase, "erase")
CAF_ADD_ATOM(hearth, hearth::verb, load, "load")
CAF_ADD_ATOM(hearth, hearth::verb, promote, "promote")
CAF_ADD_ATOM(hearth, hearth::verb, write, "write")
CAF_ADD_ATOM(hearth, hearth::verb, ask_remote, "ask_remote")
CAF_ADD_ATOM(hearth, hearth::verb, drain, "drain")
CAF_ADD_ATOM(hearth, hearth::verb, clear, "clear")
CAF_ADD_ATOM(hearth, hearth::verb, acquire, "acquire")
CAF_ADD_ATOM(hearth, hearth::verb, lock, "lock")
CAF_ADD_ATOM(hearth, hearth::verb, fulfil, "fulfil")
CAF_ADD_ATOM(hearth, hearth::verb, abandon, "abandon")
CAF_ADD_ATOM(hearth, hearth::verb, release, "release")
CAF_ADD_ATOM(hearth, hearth::verb, withdraw, "withdraw")
CAF_ADD_ATOM(hearth, hearth::verb, poll_lease, "poll_lease")
CAF_ADD_ATOM(hearth, hearth::verb, poll_fleet, "poll_fleet")
CAF_ADD_ATOM(hearth, hearth::verb, beat, "beat")
CAF_ADD_ATOM(hearth, hearth::verb, end_waits, "end_waits")
CAF_ADD_ATOM(hearth, hearth::verb, take_reply, "take_reply")
CAF_ADD_ATOM(hearth, hearth::verb, reclaim, "reclaim")
CAF_ADD_ATOM(hearth, hearth::verb, ping, "ping")
CAF_ADD_ATOM(hearth, hearth::verb, list, "list")
CAF_ADD_ATOM(hearth, hearth::verb, renew, "renew")
CAF_ADD_ATOM(hearth, hearth::verb, resend, "resend")
CAF_ADD_ATOM(hearth, hearth::verb, persist, "persist")
CAF_ADD_ATOM(hearth, hearth::verb, run, "run")
CAF_ADD_ATOM(hearth, hearth::verb, trial, "trial")
CAF_ADD_ATOM(hearth, hearth::verb, tune, "tune")
CAF_ADD_ATOM(hearth, hearth::verb, save, "save")
CAF_ADD_ATOM(hearth, hearth::verb, best, "best")
CAF_ADD_ATOM(hearth, hearth::verb, begin, "begin")
CAF_ADD_ATOM(hearth, hearth::verb, finish, "finish")
CAF_ADD_ATOM(hearth, hearth::verb, record, "record")
CAF_ADD_ATOM(hearth, hearth::verb, count, "count")
CAF_ADD_ATOM(hearth, hearth::verb, find, "find")
CAF_ADD_ATOM(hearth, hearth::verb, stats, "stats")
CAF_ADD_ATOM(hearth, hearth::verb, trace, "trace")
CAF_ADD_ATOM(hearth, hearth::verb, find_set, "find_set")
CAF_ADD_ATOM(hearth, hearth::verb, merge, "merge")
CAF_ADD_ATOM(hearth, hearth::verb, refresh, "refresh")
CAF_ADD_ATOM(hearth, hearth::verb, hear, "hear")
CAF_ADD_ATOM(hearth, hearth::verb, heard, "heard")
CAF_ADD_ATOM(hearth, hearth::verb, listen, "listen")
CAF_ADD_ATOM(hearth, hearth::verb, purge, "purge")
CAF_ADD_ATOM(hearth, hearth::verb, tell, "tell")

CAF_END_TYPE_ID_BLOCK(hearth)

// All actors of a runtime are in one process, so these types are never serialised.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::artifact)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::cache_key)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::error)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::lookup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::lookup_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::key_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::insert_outcome)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::done)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::disk_insert_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::disk_change_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::lease_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::set_change)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::set_limits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::set_lookup)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::set_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::fleet_members)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::lookup_completion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::insert_completion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::done_completion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::flag_completion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::lease_completion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::get_batch_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::entry_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::memory_shard_stats)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::broker_stats)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::fleet_lease)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::remote_tier_stats)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::action_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::action_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::action_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::action_completion)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::trial_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::trial_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::span_list)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::hints)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::guarded_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::tune_request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::tune_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::autotune_record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::recording)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::autotune_address)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::autotune_choices)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::autotune_found)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::tuning_notes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::named_cache_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::bundle_session)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::bundle_end)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hearth::metrics_page)
