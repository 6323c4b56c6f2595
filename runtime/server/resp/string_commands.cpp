// Commands that read and write values.
#include "runtime/server/entries/unix_time.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "runtime/server/sending_room.hpp"

#include <memory>
#include <utility>

namespace hearth::server {
namespace {

std::string invalid_expiry(std::string_view command) {
  return "ERR invalid expire time in '" + std::string(command) + "' command";
}

// --- reads -------------------------------------------------------------------------------------

void reply_range(resp_session& in, const expected<lookup>& found, std::size_t first,
                 std::size_t count) {
  const bool is_whole = count == found->value.payload().size();
  in.note_hit(count, is_whole ? time_taken(found->value) : std::chrono::nanoseconds(0));
  in.reply().bytes(found->value, first, count);
}

bool is_other_type(const lookup& found) {
  return found.hit() && type_of(found.value) != entry_type::string;
}

bool reply_if_other_type(resp_session& in, const expected<lookup>& found) {
  if (!found || !is_other_type(*found)) return false;
  in.reply().error(wrong_type);
  return true;
}

// A failure of a cache is a miss to its client.
bool reply_unless_hit(resp_session& in, const expected<lookup>& found) {
  if (reply_if_other_type(in, found)) return true;
  const bool hit = found && found->hit();
  if (hit && may_send(in.host(), in.context(), found->value.payload().size())) return false;
  hit ? in.note_refused() : in.note_miss();
  in.reply().null();
  return true;
}

void reply_value(resp_session& in, const expected<lookup>& found) {
  if (!reply_unless_hit(in, found)) reply_range(in, found, 0, found->value.payload().size());
}

bool may_hold(resp_session& in) { return in.host().may_hold(*in.who()) && !in.has_more_input(); }

bool is_sendable(resp_session& in, const expected<lookup>& found) {
  return !found || may_send(in.host(), in.context(), found->value.payload().size());
}

// Looks a value up again once there is room to send it.
void get_when_sendable(resp_session& in, const std::string& key, std::uint64_t bytes) {
  when_sendable(
      in.host(), in.context(), bytes, [&in, key, call = in.begin_waiting()](bool has_room) {
        in.host().when_answered(has_room ? in.entries().get(key) : future<lookup>(lookup{}),
                                [&in, call](const expected<lookup>& found) {
                                  reply_value(in, found);
                                  in.end_waiting(call);
                                });
      });
}

void get(resp_session& in, const resp_words& words) {
  if (!may_hold(in))
    return in.reply_later(in.entries().get(words[1]),
                          [&in, key = words[1]](const expected<lookup>& found) {
                            if (is_sendable(in, found)) return reply_value(in, found);
                            get_when_sendable(in, key, found->value.payload().size());
                          });
  in.leases().get(words[1], [&in, call = in.begin_waiting()](const expected<lookup>& found) {
    reply_value(in, found);
    in.end_waiting(call);
  });
}

void mget(resp_session& in, const resp_words& words) {
  struct state {
    std::vector<expected<lookup>> found{};
    std::size_t missing = 0;
    std::uint64_t bytes = 0; // of the values found
    bool is_full = false;    // the others are misses, and not looked up
  };
  const auto keys = words.size() - 1;
  const auto all = std::make_shared<state>();
  all->found.assign(keys, lookup{});
  all->missing = keys;
  const auto call = in.begin_waiting();
  for (std::size_t i = 0; i < keys; ++i)
    in.host().when_answered(
        all->is_full ? future<lookup>(lookup{}) : in.entries().get(words[i + 1]),
        [&in, all, i, call](expected<lookup> found) {
          if (found && is_other_type(*found)) found = lookup{};
          // All are kept until the last one is found.
          const auto bytes = found ? found->value.payload().size() : 0;
          all->is_full = all->is_full || !may_send(in.host(), in.context(), all->bytes + bytes);
          if (!all->is_full) {
            all->bytes += bytes;
            all->found[i] = std::move(found);
          }
          if (--all->missing != 0) return;
          in.reply().array(all->found.size());
          for (const auto& one : all->found)
            reply_value(in, one);
          in.end_waiting(call);
        });
}

void strlen(resp_session& in, const resp_words& words) {
  in.reply_later(in.entries().get(words[1]), [&in](const expected<lookup>& found) {
    if (reply_if_other_type(in, found)) return;
    const bool hit = found && found->hit();
    hit ? in.note_hit(0) : in.note_miss();
    in.reply().integer(hit ? static_cast<std::int64_t>(found->value.payload().size()) : 0);
  });
}

void getrange(resp_session& in, const resp_words& words) {
  const auto first = parse_integer(words[2]);
  const auto last = parse_integer(words[3]);
  if (!first || !last) return in.reply().error(not_an_integer);
  in.reply_later(in.entries().get(words[1]), [&in, first, last](const expected<lookup>& found) {
    if (reply_if_other_type(in, found)) return;
    if (!found || !found->hit()) {
      in.note_miss();
      return in.reply().bytes("");
    }
    const auto [start, count] = bytes_between(found->value.payload().size(), *first, *last);
    reply_range(in, found, start, count);
  });
}

// --- writes ------------------------------------------------------------------------------------

std::string reply_of_write(resp_session& in, const expected<done>& stored, std::uint64_t bytes) {
  if (!stored) {
    in.note_failed();
    return error_text(failure_text(stored.error()));
  }
  in.note_write(bytes);
  return status_text("OK");
}

void put(resp_session& in, const std::string& key, std::string_view value, expiry_ms expires) {
  const auto bytes = value.size();
  if (!in.host().may_hold(*in.who()))
    return in.reply_in_turn(
        in.entries().put(key, make_value(value, expires)),
        [&in, bytes](const expected<done>& stored) { return reply_of_write(in, stored, bytes); });
  in.leases().put(key, make_value(value, expires, members_of(in.leases().held_for(key))),
                  [&in, bytes, number = in.begin_turn()](const expected<done>& stored) {
                    in.fill_turn(number, reply_of_write(in, stored, bytes));
                  });
}

struct set_options {
  expiry_ms expires = 0;
  bool only_new = false, only_existing = false, returns_old = false, keeps_expiry = false;
  bool is_plain() const { return !only_new && !only_existing && !returns_old && !keeps_expiry; }
};

std::optional<expiry_unit> unit_of(std::string_view word) {
  if (equal_ignoring_case(word, "ex")) return expiry_unit::seconds;
  if (equal_ignoring_case(word, "px")) return expiry_unit::milliseconds;
  if (equal_ignoring_case(word, "exat")) return expiry_unit::unix_seconds;
  if (equal_ignoring_case(word, "pxat")) return expiry_unit::unix_milliseconds;
  return std::nullopt;
}

bool take_flag(std::string_view word, set_options& to) {
  for (auto [name, flag] : {std::pair{"nx", &set_options::only_new},
                            {"xx", &set_options::only_existing},
                            {"get", &set_options::returns_old},
                            {"keepttl", &set_options::keeps_expiry}})
    if (equal_ignoring_case(word, name)) return to.*flag = true;
  return false;
}

// The options behind the value; an error's text where they are none.
expected<set_options> parse_set_options(const resp_words& words) {
  set_options options;
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (take_flag(words[i], options)) continue;
    const auto unit = unit_of(words[i]);
    if (!unit || options.expires != 0 || i + 1 == words.size())
      return fail(errc::malformed, std::string(syntax_error));
    const auto number = parse_integer(words[++i]);
    if (!number) return fail(errc::malformed, std::string(not_an_integer));
    const auto at = parse_expiry(words[i], *unit, unix_time_ms());
    if (*number <= 0 || !at) return fail(errc::malformed, invalid_expiry("set"));
    options.expires = *at;
  }
  if ((options.only_new && options.only_existing) || (options.expires && options.keeps_expiry))
    return fail(errc::malformed, std::string(syntax_error));
  return options;
}

// SET with a condition: the reply is OK, nil where the condition does not hold, or the old value.
void set_if(resp_session& in, const resp_words& words, const set_options& options) {
  auto answer = in.entries().change(
      words[1], [options, bytes = words[2]](const lookup& before, bool is_own) -> entry_change {
        if (before.hit() ? options.only_new : options.only_existing) return {};
        if (options.returns_old && is_other_type(before)) return {};
        const auto kept = options.keeps_expiry && is_own ? expiry_of(before.value) : 0;
        return {entry_change::kind::put, make_value(bytes, kept ? kept : options.expires)};
      });
  in.reply_later(std::move(answer),
                 [&in, options, size = words[2].size()](const expected<changed_entry>& result) {
                   if (!result) {
                     in.note_failed();
                     return in.reply().error(failure_text(result.error()));
                   }
                   if (result->changed) in.note_write(size);
                   if (options.returns_old) return reply_value(in, result->before);
                   result->changed ? in.reply().status("OK") : in.reply().null();
                 });
}

void set(resp_session& in, const resp_words& words) {
  const auto options = parse_set_options(words);
  if (!options) return in.reply().error(options.error().text());
  if (options->is_plain()) return put(in, words[1], words[2], options->expires);
  set_if(in, words, *options);
}

void set_with_expiry(resp_session& in, const resp_words& words, expiry_unit unit,
                     std::string_view name) {
  const auto number = parse_integer(words[2]);
  if (!number) return in.error_in_turn(not_an_integer);
  const auto at = parse_expiry(words[2], unit, unix_time_ms());
  if (*number <= 0 || !at) return in.error_in_turn(invalid_expiry(name));
  put(in, words[1], words[3], *at);
}

void setex(resp_session& in, const resp_words& words) {
  set_with_expiry(in, words, expiry_unit::seconds, "setex");
}

void psetex(resp_session& in, const resp_words& words) {
  set_with_expiry(in, words, expiry_unit::milliseconds, "psetex");
}

void setnx(resp_session& in, const resp_words& words) {
  in.reply_later(in.entries().insert(words[1], make_value(words[2])),
                 [&in, size = words[2].size()](const expected<insert_outcome>& outcome) {
                   if (!outcome) {
                     in.note_failed();
                     return in.reply().error(failure_text(outcome.error()));
                   }
                   in.note_write(size);
                   in.reply().integer(*outcome == insert_outcome::inserted ? 1 : 0);
                 });
}

// Replies with the value as it was before a change.
void reply_before(resp_session& in, future<changed_entry> asked) {
  in.reply_later(std::move(asked), [&in](const expected<changed_entry>& result) {
    if (result) return reply_value(in, result->before);
    in.note_failed();
    in.reply().error(failure_text(result.error()));
  });
}

void getset(resp_session& in, const resp_words& words) {
  reply_before(in, in.entries().change(
                       words[1], [bytes = words[2]](const lookup& before, bool) -> entry_change {
                         if (is_other_type(before)) return {};
                         return {entry_change::kind::put, make_value(bytes)};
                       }));
}

void getdel(resp_session& in, const resp_words& words) {
  reply_before(in,
               in.entries().change(words[1], [](const lookup& before, bool is_own) -> entry_change {
                 return {is_own && !is_other_type(before) ? entry_change::kind::erase
                                                          : entry_change::kind::keep,
                         {}};
               }));
}

// The time at which the value ends from now on, 0: never; an error's text where the words are none.
expected<expiry_ms> parse_new_expiry(const resp_words& words) {
  if (words.size() == 3 && equal_ignoring_case(words[2], "persist")) return expiry_ms{0};
  const auto unit = words.size() == 4 ? unit_of(words[2]) : std::nullopt;
  if (!unit) return fail(errc::malformed, std::string(syntax_error));
  const auto number = parse_integer(words[3]);
  if (!number) return fail(errc::malformed, std::string(not_an_integer));
  const auto at = parse_expiry(words[3], *unit, unix_time_ms());
  if (*number <= 0 || !at) return fail(errc::malformed, invalid_expiry("getex"));
  return *at;
}

void getex(resp_session& in, const resp_words& words) {
  if (words.size() == 2) return get(in, words);
  const auto end = parse_new_expiry(words);
  if (!end) return in.reply().error(end.error().text());
  reply_before(in, in.entries().change(
                       words[1], [end = *end](const lookup& before, bool is_own) -> entry_change {
                         if (!is_own || is_other_type(before)) return {};
                         if (end == 0 && expiry_of(before.value) == 0) return {};
                         if (end != 0 && end <= unix_time_ms())
                           return {entry_change::kind::erase, {}};
                         return {entry_change::kind::put, with_expiry(before.value, end)};
                       }));
}

void mset(resp_session& in, const resp_words& words) {
  if (words.size() % 2 == 0)
    return in.error_in_turn("ERR wrong number of arguments for 'mset' command");
  struct state {
    std::size_t missing;
    std::string problem;
  };
  const auto all = std::make_shared<state>(state{words.size() / 2, {}});
  const auto number = in.begin_turn();
  for (std::size_t i = 1; i < words.size(); i += 2)
    in.host().when_answered(
        in.entries().put(words[i], make_value(words[i + 1])),
        [&in, all, number, size = words[i + 1].size()](const expected<done>& stored) {
          if (!stored) all->problem = failure_text(stored.error());
          stored ? in.note_write(size) : in.note_failed();
          if (--all->missing != 0) return;
          in.fill_turn(number, all->problem.empty() ? status_text("OK") : error_text(all->problem));
        });
}

constexpr resp_command string_table[] = {
    {"get", 2, user_role::reader, request_kind::get, command_turn::alone, get},
    {"mget", -2, user_role::reader, request_kind::get, command_turn::alone, mget},
    {"strlen", 2, user_role::reader, request_kind::exists, command_turn::alone, strlen},
    {"getrange", 4, user_role::reader, request_kind::get, command_turn::alone, getrange},
    {"substr", 4, user_role::reader, request_kind::get, command_turn::alone, getrange},
    {"set", -3, user_role::writer, request_kind::put, command_turn::plain, set, ignore_with_ok},
    {"setex", 4, user_role::writer, request_kind::put, command_turn::write, setex, ignore_with_ok},
    {"psetex", 4, user_role::writer, request_kind::put, command_turn::write, psetex,
     ignore_with_ok},
    {"setnx", 3, user_role::writer, request_kind::put, command_turn::alone, setnx,
     ignore_with_number<1>},
    {"getset", 3, user_role::writer, request_kind::put, command_turn::alone, getset, get},
    {"getdel", 2, user_role::writer, request_kind::erase, command_turn::alone, getdel, get},
    {"getex", -2, user_role::writer, request_kind::put, command_turn::alone, getex, get},
    {"mset", -3, user_role::writer, request_kind::put, command_turn::write, mset, ignore_with_ok},
};

} // namespace

std::span<const resp_command> string_commands() noexcept { return string_table; }

} // namespace hearth::server
