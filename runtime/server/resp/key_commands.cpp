// Commands about keys: which there are, how long they last, and their end.
#include "runtime/server/entries/unix_time.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "runtime/server/resp/session_streams.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::string_view invalid_cursor = "ERR invalid cursor";

// Counts for how many of a command's keys `ask` answers yes.
template <class Ask>
void reply_count(resp_session& in, const resp_words& words, Ask ask) {
  struct state {
    std::size_t missing;
    std::int64_t count = 0;
    std::string problem{};
  };
  const auto all = std::make_shared<state>(state{words.size() - 1});
  const auto call = in.begin_waiting();
  for (std::size_t i = 1; i < words.size(); ++i)
    ask(words[i], [&in, all, call](const expected<bool>& yes) {
      if (!yes)
        all->problem = failure_text(yes.error());
      else
        all->count += *yes ? 1 : 0;
      if (--all->missing != 0) return;
      all->problem.empty() ? in.reply().integer(all->count) : in.reply().error(all->problem);
      in.end_waiting(call);
    });
}

void exists(resp_session& in, const resp_words& words) {
  reply_count(in, words, [&in](const std::string& key, auto answer) {
    in.host().when_answered(in.entries().get(key), [&in, key,
                                                    answer](const expected<lookup>& found) {
      const bool hit = (found && found->hit()) || in.context().streams->has(stream_called(in, key));
      hit ? in.note_hit(0) : in.note_miss();
      answer(hit);
    });
  });
}

// A stream has names of its own: an entry and a stream may have the same one.
void erase_stream(resp_session& in, const std::string& key, bool erased_entry,
                  std::function<void(expected<bool>)> answer) {
  auto name = stream_called(in, key);
  if (!in.context().streams->has_own(name)) return answer(erased_entry);
  in.context().streams->erase(
      std::move(name), on_connection<bool>(in, [answer, erased_entry](const expected<bool>& gone) {
        if (!gone) return answer(gone);
        answer(*gone || erased_entry);
      }));
}

void del(resp_session& in, const resp_words& words) {
  reply_count(in, words, [&in](const std::string& key, auto answer) {
    in.host().when_answered(in.entries().erase(key),
                            [&in, key, answer](const expected<bool>& erased) {
                              erased ? in.note_write(0) : in.note_failed();
                              if (!erased) return answer(erased);
                              erase_stream(in, key, *erased, answer);
                            });
  });
}

// Replies with what `number` makes of an entry; -2 where there is none.
template <class Number>
void reply_about(resp_session& in, const std::string& key, Number number) {
  in.reply_later(in.entries().get(key), [&in, number](const expected<lookup>& found) {
    const bool hit = found && found->hit();
    hit ? in.note_hit(0) : in.note_miss();
    in.reply().integer(hit ? number(expiry_of(found->value)) : -2);
  });
}

std::int64_t time_left(expiry_ms end) {
  return end == 0 ? -1 : std::max<std::int64_t>(end - unix_time_ms(), 0);
}

void pttl(resp_session& in, const resp_words& words) { reply_about(in, words[1], time_left); }

void ttl(resp_session& in, const resp_words& words) {
  reply_about(in, words[1], [](expiry_ms end) {
    const auto left = time_left(end);
    return left < 0 ? left : (left + 500) / 1000;
  });
}

void type(resp_session& in, const resp_words& words) {
  in.reply_later(in.entries().get(words[1]), [&in, key = words[1]](const expected<lookup>& found) {
    const bool hit = found && found->hit();
    const bool is_stream = !hit && in.context().streams->has(stream_called(in, key));
    hit || is_stream ? in.note_hit(0) : in.note_miss();
    in.reply().status(hit ? to_string(type_of(found->value)) : is_stream ? "stream" : "none");
  });
}

// When EXPIRE changes the time that an entry has; all flags that are set have to hold.
struct expiry_condition {
  bool without = false, with = false; // it has none, it has one
  bool later = false, earlier = false;

  // `before`: 0 is never.
  bool holds(expiry_ms before, expiry_ms end) const {
    if (without && before != 0) return false;
    if (with && before == 0) return false;
    if (later && (before == 0 || end <= before)) return false;
    return !earlier || before == 0 || end < before;
  }
};

// Gives an entry of the own namespace another expiry, or drops it if that has passed.
void expire_at(resp_session& in, const std::string& key, expiry_ms end,
               const expiry_condition& condition = {}) {
  auto answer =
      in.entries().change(key, [end, condition](const lookup& before, bool is_own) -> entry_change {
        if (!is_own || !condition.holds(expiry_of(before.value), end)) return {};
        if (end != 0 && end <= unix_time_ms()) return {entry_change::kind::erase, {}};
        if (end == 0 && expiry_of(before.value) == 0) return {};
        return {entry_change::kind::put, with_expiry(before.value, end)};
      });
  in.reply_later(std::move(answer), [&in](const expected<changed_entry>& result) {
    if (!result) {
      in.note_failed();
      return in.reply().error(failure_text(result.error()));
    }
    in.note_write(0);
    in.reply().integer(result->changed ? 1 : 0);
  });
}

// The options behind the time; an error's text where they are none.
expected<expiry_condition> parse_condition(const resp_words& words) {
  expiry_condition condition;
  for (std::size_t i = 3; i < words.size(); ++i) {
    bool* flag = nullptr;
    for (const auto& [name, of] : {std::pair{"nx", &expiry_condition::without},
                                   {"xx", &expiry_condition::with},
                                   {"gt", &expiry_condition::later},
                                   {"lt", &expiry_condition::earlier}})
      if (equal_ignoring_case(words[i], name)) flag = &(condition.*of);
    if (!flag) return fail(errc::malformed, "ERR Unsupported option " + words[i].substr(0, 128));
    *flag = true;
  }
  if (condition.without && (condition.with || condition.later || condition.earlier))
    return fail(errc::malformed,
                "ERR NX and XX, GT or LT options at the same time are not compatible");
  if (condition.later && condition.earlier)
    return fail(errc::malformed, "ERR GT and LT options at the same time are not compatible");
  return condition;
}

template <expiry_unit Unit>
void expire(resp_session& in, const resp_words& words) {
  const auto condition = parse_condition(words);
  if (!condition) return in.reply().error(condition.error().text());
  if (!parse_integer(words[2])) return in.reply().error(not_an_integer);
  const auto end = parse_expiry(words[2], Unit, unix_time_ms());
  if (!end)
    return in.reply().error("ERR invalid expire time in '" +
                            std::string(find_command(words[0])->name) + "' command");
  // 0 would mean that it never ends.
  expire_at(in, words[1], std::max<expiry_ms>(*end, 1), *condition);
}

void persist(resp_session& in, const resp_words& words) { expire_at(in, words[1], 0); }

// --- lists -------------------------------------------------------------------------------------

// The bound of a reply that lists keys.
constexpr std::size_t max_listed_bytes = std::size_t{256} << 20;

struct listing {
  std::vector<std::string> keys;
  std::size_t bytes = 0;
  std::string problem; // empty: none
};

// The keys that `wanted` says. Blocks.
listing keys_of(const entry_space& entries, const std::function<bool(std::string_view)>& wanted) {
  listing all;
  const auto listed = entries.list([&](std::string_view key, std::uint64_t) {
    if (!wanted(key)) return true;
    all.keys.emplace_back(key);
    all.bytes += key.size();
    if (all.bytes <= max_listed_bytes) return true;
    all.problem = "ERR more keys than one reply may list; use SCAN with a pattern";
    return false;
  });
  if (!listed) all.problem = failure_text(listed.error());
  return all;
}

// Lists keys on a thread that may block, then calls `next` on this one.
void list_keys(resp_session& in, std::function<bool(std::string_view)> wanted,
               std::function<void(listing&)> next) {
  const auto all = std::make_shared<listing>();
  in.reply_after([entries = in.entries(), all,
                  wanted = std::move(wanted)] { *all = keys_of(entries, wanted); },
                 [all, next = std::move(next)] { next(*all); });
}

void reply_keys(resp_session& in, listing& all) {
  if (!all.problem.empty()) return in.reply().error(all.problem);
  in.reply().array(all.keys.size());
  for (const auto& key : all.keys)
    in.reply().bytes(key);
}

void keys(resp_session& in, const resp_words& words) {
  list_keys(
      in, [pattern = words[1]](std::string_view key) { return matches_pattern(key, pattern); },
      [&in](listing& all) { reply_keys(in, all); });
}

struct scan_options {
  std::uint64_t cursor = 0;
  std::size_t count = 10;
  std::string pattern = "*";
  std::optional<entry_type> type; // the only one that is wanted
  bool has_type = true;           // there are entries of the type that is asked for
};

expected<void> take_option(std::string_view name, const std::string& given, scan_options& to) {
  if (equal_ignoring_case(name, "match")) {
    to.pattern = given;
  } else if (equal_ignoring_case(name, "type")) {
    to.has_type = false;
    for (const auto one : {entry_type::string, entry_type::hash})
      if (equal_ignoring_case(given, to_string(one))) to.type = one, to.has_type = true;
  } else if (equal_ignoring_case(name, "count")) {
    const auto count = parse_integer(given);
    if (!count) return fail(errc::malformed, std::string(not_an_integer));
    if (*count < 1) return fail(errc::malformed, std::string(syntax_error));
    to.count = static_cast<std::size_t>(*count);
  } else {
    return fail(errc::malformed, std::string(syntax_error));
  }
  return {};
}

// The words of SCAN; the error's text where they are none.
expected<scan_options> parse_scan(const resp_words& words) {
  scan_options options;
  const auto* const end = words[1].data() + words[1].size();
  const auto [stopped, problem] = std::from_chars(words[1].data(), end, options.cursor);
  if (problem != std::errc{} || stopped != end)
    return fail(errc::malformed, std::string(invalid_cursor));
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return fail(errc::malformed, std::string(syntax_error));
    if (auto taken = take_option(words[i], words[i + 1], options); !taken)
      return fail(taken.error());
  }
  return options;
}

void reply_page(resp_session& in, const expected<key_page>& page) {
  if (!page)
    return in.reply().error(page.error().code() == errc::invalid_argument
                                ? std::string(invalid_cursor)
                                : failure_text(page.error()));
  in.reply().array(2);
  in.reply().bytes(std::to_string(page->next));
  in.reply().array(page->keys.size());
  for (const auto& key : page->keys)
    in.reply().bytes(key);
}

// The bytes with which every key that matches begins.
std::size_t literal_start(std::string_view pattern) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i, ++count) {
    if (std::string_view("*?[").find(pattern[i]) != std::string_view::npos) return count;
    if (pattern[i] == '\\') ++i;
  }
  return count;
}

void refuse_scan(resp_session& in, const resp_words&) {
  in.note_refused();
  in.reply().error("NOPERM this user has no permissions to run the 'scan' command");
}

// A writer lists no keys, but those of a start that it knows: a host removes a whole cache so.
constexpr std::size_t least_known_start = 8;

void scan(resp_session& in, const resp_words& words) {
  auto options = parse_scan(words);
  const bool is_allowed =
      in.who()->may_manage() || (options && literal_start(options->pattern) >= least_known_start);
  if (!is_allowed) return refuse_scan(in, words);
  if (!options) return in.reply().error(options.error().text());
  const auto page = std::make_shared<expected<key_page>>();
  if (!options->has_type) return reply_page(in, *page);
  in.reply_after(
      [entries = in.entries(), page, wanted = std::move(*options)] {
        *page =
            entries.scan(wanted.cursor, wanted.count, [&](std::string_view key, entry_type type) {
              return wanted.type.value_or(type) == type && matches_pattern(key, wanted.pattern);
            });
      },
      [&in, page] { reply_page(in, *page); });
}

void dbsize(resp_session& in, const resp_words&) {
  const auto count = std::make_shared<std::int64_t>(0);
  list_keys(
      in,
      [count](std::string_view) {
        ++*count;
        return false;
      },
      [&in, count](listing& all) {
        all.problem.empty() ? in.reply().integer(*count) : in.reply().error(all.problem);
      });
}

// --- FLUSHDB, FLUSHALL -------------------------------------------------------------------------

// A database that is being emptied, one of those that the command names.
struct flushing {
  unsigned database = 0;
  unsigned last = 0;
  std::uint64_t call = 0; // 0: nothing is waited for yet
  std::optional<entry_space> entries;
  listing all;
};
using flushing_ptr = std::shared_ptr<flushing>;

void empty_next_database(resp_session& in, const flushing_ptr& now);

void end_database(resp_session& in, const flushing_ptr& now, const expected<void>& erased) {
  auto& problem = now->all.problem;
  if (!erased && problem.empty()) problem = failure_text(erased.error());
  if (problem.empty() && now->database != now->last) {
    ++now->database;
    return empty_next_database(in, now);
  }
  problem.empty() ? in.reply().status("OK") : in.reply().error(problem);
  if (now->call != 0) in.end_waiting(now->call);
}

// Drops some keys, then the next, so that a large database does not fill the queues; the streams
// are last.
void erase_keys(resp_session& in, const flushing_ptr& now, std::size_t begin) {
  constexpr std::size_t at_once = 256;
  const auto& keys = now->all.keys;
  const auto end = std::min(keys.size(), begin + at_once);
  if (begin == end)
    return in.context().streams->erase_all(
        in.who()->name_space, now->database,
        on_connection<void>(
            in, [&in, now](const expected<void>& erased) { end_database(in, now, erased); }));
  const auto missing = std::make_shared<std::size_t>(end - begin);
  for (auto i = begin; i < end; ++i)
    in.host().when_answered(now->entries->erase(keys[i]),
                            [&in, now, end, missing](const expected<bool>& erased) {
                              if (!erased) now->all.problem = failure_text(erased.error());
                              if (--*missing == 0) erase_keys(in, now, end);
                            });
}

void empty_next_database(resp_session& in, const flushing_ptr& now) {
  auto entries = in.context().entries_of(*in.who(), now->database);
  if (!entries) return end_database(in, now, fail(entries.error()));
  now->entries = std::move(*entries);
  in.reply_after([now] { now->all = keys_of(*now->entries, [](auto) { return true; }); },
                 [&in, now] {
                   now->call = in.begin_waiting();
                   erase_keys(in, now, 0);
                 });
}

void empty_databases(resp_session& in, const resp_words& words, unsigned first, unsigned last) {
  const bool is_known = words.size() == 1 || equal_ignoring_case(words[1], "sync") ||
                        equal_ignoring_case(words[1], "async");
  if (words.size() > 2 || !is_known) return in.reply().error(syntax_error);
  empty_next_database(in, std::make_shared<flushing>(flushing{first, last, 0, {}, {}}));
}

void flushdb(resp_session& in, const resp_words& words) {
  empty_databases(in, words, in.database(), in.database());
}

void flushall(resp_session& in, const resp_words& words) {
  empty_databases(in, words, 0, database_count - 1);
}

constexpr resp_command key_table[] = {
    {"exists", -2, user_role::reader, request_kind::exists, command_turn::alone, exists},
    {"touch", -2, user_role::reader, request_kind::exists, command_turn::alone, exists},
    {"ttl", 2, user_role::reader, request_kind::exists, command_turn::alone, ttl},
    {"pttl", 2, user_role::reader, request_kind::exists, command_turn::alone, pttl},
    {"type", 2, user_role::reader, request_kind::exists, command_turn::alone, type},
    {"del", -2, user_role::writer, request_kind::erase, command_turn::alone, del,
     ignore_with_number<0>},
    {"unlink", -2, user_role::writer, request_kind::erase, command_turn::alone, del,
     ignore_with_number<0>},
    {"expire", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::seconds>, ignore_with_number<1>},
    {"pexpire", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::milliseconds>, ignore_with_number<1>},
    {"expireat", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::unix_seconds>, ignore_with_number<1>},
    {"pexpireat", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::unix_milliseconds>, ignore_with_number<1>},
    {"persist", 2, user_role::writer, request_kind::put, command_turn::alone, persist,
     ignore_with_number<0>},
    {"keys", 2, user_role::admin, request_kind::list, command_turn::alone, keys},
    {"scan", -2, user_role::writer, request_kind::list, command_turn::alone, scan, refuse_scan},
    {"dbsize", 1, user_role::admin, request_kind::list, command_turn::alone, dbsize},
    {"flushdb", -1, user_role::admin, request_kind::erase, command_turn::alone, flushdb},
    {"flushall", -1, user_role::admin, request_kind::erase, command_turn::alone, flushall},
};

} // namespace

std::span<const resp_command> key_commands() noexcept { return key_table; }

} // namespace hearth::server
