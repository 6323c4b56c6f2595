// Commands that read and change hashes. A hash is one entry, which a change replaces as a whole;
// what a client of a namespace reads is the union of its own hash and the trusted one.
#include "runtime/server/resp/hash_changes.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "runtime/server/sending_room.hpp"

#include <memory>
#include <utility>

namespace hearth::server {
namespace {

// A set of the remote tier has at most 65,536 members, and those that later ones replace.
constexpr std::size_t max_fields = std::size_t{1} << 17;

constexpr std::string_view damaged_hash = "ERR the stored hash is damaged; drop it (DEL)";
constexpr std::string_view too_many_fields = "ERR a hash has at most 131072 fields";

// --- reads -------------------------------------------------------------------------------------

struct seen_hash {
  lookup own, trusted; // they keep the texts of `fields`
  hash_fields fields;
  std::string_view problem; // empty: none

  // Adds the fields of a hash; returns false, with the problem, where that cannot be.
  bool take(const lookup& found) {
    if (!found.hit()) return true;
    if (type_of(found.value) != entry_type::hash) {
      problem = wrong_type;
      return false;
    }
    const auto read = hash_fields::read(found.value.payload());
    if (!read) {
      problem = damaged_hash;
      return false;
    }
    fields.join(*read);
    return true;
  }
  std::uint64_t bytes() const {
    return own.value.payload().size() + trusted.value.payload().size();
  }
};

// What is seen under a key: an own string hides a trusted hash, and an own hash a trusted string.
// A failure of a cache is a miss to its client.
seen_hash see(const expected<layered_lookup>& found) {
  seen_hash seen;
  if (!found) return seen;
  seen.own = found->own;
  seen.trusted = found->trusted;
  const bool is_hidden = seen.own.hit() && type_of(seen.trusted.value) != entry_type::hash;
  if (seen.take(seen.own) && !is_hidden) seen.take(seen.trusted);
  return seen;
}

// Calls `reply` with what is under the key, unless that is an error.
template <class Reply>
void look_at_hash(resp_session& in, const std::string& key, Reply reply) {
  in.reply_later(in.entries().get_layers(key), [&in, reply](const expected<layered_lookup>& found) {
    const auto seen = see(found);
    seen.fields.all().empty() ? in.note_miss() : in.note_hit(0);
    seen.problem.empty() ? reply(seen) : in.reply().error(seen.problem);
  });
}

void reply_text(resp_session& in, const seen_hash& seen, std::string_view text) {
  for (const auto* const from : {&seen.own.value, &seen.trusted.value}) {
    const auto payload = from->payload();
    if (text.data() < payload.data() || text.data() > payload.data() + payload.size()) continue;
    return in.reply().bytes(*from, static_cast<std::size_t>(text.data() - payload.data()),
                            text.size());
  }
  in.reply().bytes(text);
}

void reply_fields(resp_session& in, const seen_hash& seen) {
  if (!seen.problem.empty()) return in.reply().error(seen.problem);
  seen.fields.all().empty() ? in.note_miss() : in.note_hit(seen.bytes());
  in.reply().map(seen.fields.all().size());
  for (const auto& field : seen.fields.all()) {
    reply_text(in, seen, field.name);
    reply_text(in, seen, field.bytes);
  }
}

// Looks a hash up again once there is room to send it.
void get_fields_when_sendable(resp_session& in, const std::string& key, std::uint64_t bytes) {
  when_sendable(in.host(), in.context(), bytes,
                [&in, key, call = in.begin_waiting()](bool has_room) {
                  in.host().when_answered(has_room ? in.entries().get_layers(key)
                                                   : future<layered_lookup>(layered_lookup{}),
                                          [&in, call](const expected<layered_lookup>& found) {
                                            reply_fields(in, see(found));
                                            in.end_waiting(call);
                                          });
                });
}

void hgetall(resp_session& in, const resp_words& words) {
  in.reply_later(in.entries().get_layers(words[1]),
                 [&in, key = words[1]](const expected<layered_lookup>& found) {
                   const auto seen = see(found);
                   if (may_send(in.host(), in.context(), seen.bytes()))
                     return reply_fields(in, seen);
                   get_fields_when_sendable(in, key, seen.bytes());
                 });
}

void hget(resp_session& in, const resp_words& words) {
  look_at_hash(in, words[1], [&in, name = words[2]](const seen_hash& seen) {
    const auto* const field = seen.fields.find(name);
    if (!field || !may_send(in.host(), in.context(), seen.bytes())) return in.reply().null();
    reply_text(in, seen, field->bytes);
  });
}

void hexists(resp_session& in, const resp_words& words) {
  look_at_hash(in, words[1], [&in, name = words[2]](const seen_hash& seen) {
    in.reply().integer(seen.fields.find(name) ? 1 : 0);
  });
}

void hlen(resp_session& in, const resp_words& words) {
  look_at_hash(in, words[1], [&in](const seen_hash& seen) {
    in.reply().integer(static_cast<std::int64_t>(seen.fields.all().size()));
  });
}

// --- writes ------------------------------------------------------------------------------------

struct hash_outcome {
  std::int64_t number = 0;
  std::string_view problem; // empty: none
};

// What the change makes of the entry that it finds.
entry_change change_of(const lookup& before, bool is_own,
                       const std::function<std::int64_t(hash_fields&)>& change,
                       const std::optional<expiry_ms>& expires, std::uint64_t most_bytes,
                       hash_outcome& out) {
  const auto refuse = [&out](std::string_view why) -> entry_change {
    out.problem = why;
    return {};
  };
  if (before.hit() && type_of(before.value) != entry_type::hash) return refuse(wrong_type);
  auto fields = is_own ? hash_fields::read(before.value.payload()) : hash_fields();
  if (!fields) return refuse(damaged_hash);
  out.number = change(*fields);
  if (fields->payload_bytes() > most_bytes) return refuse(too_long_value);
  if (fields->all().size() > max_fields) return refuse(too_many_fields);
  if (fields->all().empty())
    return {is_own ? entry_change::kind::erase : entry_change::kind::keep, {}};
  if (!fields->is_changed() && !expires) return {};
  return {entry_change::kind::put,
          fields->store(expires.value_or(is_own ? expiry_of(before.value) : 0))};
}

void hset(resp_session& in, const resp_words& words) {
  if (words.size() % 2 != 0)
    return in.reply().error("ERR wrong number of arguments for 'hset' command");
  constexpr std::size_t first_pair = 2;
  change_hash(in, words[1],
              [kept = words](hash_fields& fields) { return add_pairs(fields, kept, first_pair); });
}

void hdel(resp_session& in, const resp_words& words) {
  change_hash(in, words[1], [kept = words](hash_fields& fields) {
    return static_cast<std::int64_t>(
        fields.remove(std::vector<std::string_view>(kept.begin() + 2, kept.end())));
  });
}

void ignore_hset(resp_session& in, const resp_words& words) {
  in.fill_turn(in.begin_turn(), integer_text(static_cast<std::int64_t>(words.size() / 2 - 1)));
}

constexpr resp_command hash_table[] = {
    {"hget", 3, user_role::reader, request_kind::get, command_turn::alone, hget},
    {"hgetall", 2, user_role::reader, request_kind::get, command_turn::alone, hgetall},
    {"hexists", 3, user_role::reader, request_kind::exists, command_turn::alone, hexists},
    {"hlen", 2, user_role::reader, request_kind::exists, command_turn::alone, hlen},
    {"hset", -4, user_role::writer, request_kind::put, command_turn::alone, hset, ignore_hset},
    {"hdel", -3, user_role::writer, request_kind::put, command_turn::alone, hdel,
     ignore_with_number<0>},
};

} // namespace

void change_hash(resp_session& in, const std::string& key,
                 std::function<std::int64_t(hash_fields&)> change,
                 std::optional<expiry_ms> expires) {
  const auto outcome = std::make_shared<hash_outcome>();
  auto answer = in.entries().change(
      key, [outcome, change = std::move(change), expires,
            most = in.context().limits().value_bytes](const lookup& before, bool is_own) {
        return change_of(before, is_own, change, expires, most, *outcome);
      });
  in.reply_later(std::move(answer), [&in, outcome](const expected<changed_entry>& result) {
    if (!result || !outcome->problem.empty()) {
      in.note_failed();
      return in.reply().error(result ? std::string(outcome->problem)
                                     : failure_text(result.error()));
    }
    in.note_write(0);
    in.reply().integer(outcome->number);
  });
}

std::int64_t add_pairs(hash_fields& to, const resp_words& words, std::size_t first) {
  std::int64_t added = 0;
  for (auto i = first; i + 1 < words.size(); i += 2)
    added += to.set({words[i], words[i + 1]}) ? 1 : 0;
  return added;
}

std::span<const resp_command> hash_commands() noexcept { return hash_table; }

} // namespace hearth::server
