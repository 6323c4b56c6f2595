// Commands about keys: which there are, how long they last, and their end.
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "runtime/server/unix_time.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace hearth::server {
namespace {

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
    in.host().when_answered(in.entries().get(key), [&in, answer](const expected<lookup>& found) {
      const bool hit = found && found->hit();
      hit ? in.note_hit(0) : in.note_miss();
      answer(hit);
    });
  });
}

void del(resp_session& in, const resp_words& words) {
  if (!in.who()->may_write()) return in.reply().integer(0);
  reply_count(in, words, [&in](const std::string& key, auto answer) {
    in.host().when_answered(in.entries().erase(key), [&in, answer](const expected<bool>& erased) {
      erased ? in.note_write(0) : in.note_failed();
      answer(erased);
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
  in.reply_later(in.entries().get(words[1]), [&in](const expected<lookup>& found) {
    const bool hit = found && found->hit();
    hit ? in.note_hit(0) : in.note_miss();
    in.reply().status(hit ? "string" : "none");
  });
}

// Gives an entry of the own namespace another expiry, or drops it if that has passed.
void expire_at(resp_session& in, const std::string& key, expiry_ms end) {
  auto answer = in.entries().change(key, [end](const lookup& before, bool is_own) -> entry_change {
    if (!is_own) return {};
    if (end != 0 && end <= unix_time_ms()) return {entry_change::kind::erase, {}};
    if (end == 0 && expiry_of(before.value) == 0) return {};
    return {entry_change::kind::put, make_value(before.value.payload(), end)};
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

template <expiry_unit Unit>
void expire(resp_session& in, const resp_words& words) {
  if (words.size() > 3) return in.reply().error("ERR Unsupported option " + words[3]);
  if (!parse_integer(words[2])) return in.reply().error(not_an_integer);
  const auto end = parse_expiry(words[2], Unit, unix_time_ms());
  if (!end) return in.reply().error("ERR invalid expire time in '" + words[0] + "' command");
  if (!in.who()->may_write()) return in.reply().integer(1);
  // 0 would mean that it never ends.
  expire_at(in, words[1], std::max<expiry_ms>(*end, 1));
}

void persist(resp_session& in, const resp_words& words) {
  if (!in.who()->may_write()) return in.reply().integer(0);
  expire_at(in, words[1], 0);
}

// --- lists -------------------------------------------------------------------------------------

// The bound of a reply that lists keys.
constexpr std::size_t max_listed_bytes = std::size_t{256} << 20;

struct listing {
  std::vector<std::string> keys;
  std::size_t bytes = 0;
  std::string problem; // empty: none
};

using listing_ptr = std::shared_ptr<listing>;

// Lists the keys that `wanted` says, on a thread that may block, then calls `next` on this one.
void list_keys(resp_session& in, std::function<bool(std::string_view)> wanted,
               std::function<void(listing&)> next) {
  const auto all = std::make_shared<listing>();
  in.reply_after(
      [entries = in.entries(), all, wanted = std::move(wanted)] {
        const auto listed = entries.list([&](std::string_view key, std::uint64_t) {
          if (!wanted(key)) return true;
          all->keys.emplace_back(key);
          all->bytes += key.size();
          if (all->bytes <= max_listed_bytes) return true;
          all->problem = "ERR more keys than one reply may list; use SCAN with a pattern";
          return false;
        });
        if (!listed) all->problem = failure_text(listed.error());
      },
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

// One page has them all: the store is not kept in an order in which a cursor could go on.
void scan(resp_session& in, const resp_words& words) {
  std::string pattern = "*";
  for (std::size_t i = 2; i < words.size(); i += 2) {
    const bool known = equal_ignoring_case(words[i], "match") ||
                       equal_ignoring_case(words[i], "count") ||
                       equal_ignoring_case(words[i], "type");
    if (!known || i + 1 == words.size()) return in.reply().error("ERR syntax error");
    if (equal_ignoring_case(words[i], "match")) pattern = words[i + 1];
  }
  if (!parse_integer(words[1])) return in.reply().error("ERR invalid cursor");
  list_keys(
      in, [pattern](std::string_view key) { return matches_pattern(key, pattern); },
      [&in](listing& all) {
        if (!all.problem.empty()) return in.reply().error(all.problem);
        in.reply().array(2);
        in.reply().bytes("0");
        reply_keys(in, all);
      });
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

// --- FLUSHDB -----------------------------------------------------------------------------------

// Drops some keys, then the next, so that a large database does not fill the queues.
void erase_keys(resp_session& in, const listing_ptr& all, std::size_t begin, std::uint64_t call) {
  constexpr std::size_t at_once = 256;
  const auto end = std::min(all->keys.size(), begin + at_once);
  if (begin == end) {
    all->problem.empty() ? in.reply().status("OK") : in.reply().error(all->problem);
    return in.end_waiting(call);
  }
  const auto missing = std::make_shared<std::size_t>(end - begin);
  for (auto i = begin; i < end; ++i)
    in.host().when_answered(in.entries().erase(all->keys[i]),
                            [&in, all, end, call, missing](const expected<bool>& erased) {
                              if (!erased) all->problem = failure_text(erased.error());
                              if (--*missing == 0) erase_keys(in, all, end, call);
                            });
}

void flush(resp_session& in, const resp_words& words) {
  if (words.size() == 2 && !equal_ignoring_case(words[1], "sync") &&
      !equal_ignoring_case(words[1], "async"))
    return in.reply().error("ERR syntax error");
  list_keys(
      in, [](std::string_view) { return true; },
      [&in](listing& all) {
        const auto kept = std::make_shared<listing>(std::move(all));
        erase_keys(in, kept, 0, in.begin_waiting());
      });
}

constexpr resp_command key_table[] = {
    {"exists", -2, user_role::reader, request_kind::exists, command_turn::alone, exists},
    {"touch", -2, user_role::reader, request_kind::exists, command_turn::alone, exists},
    {"ttl", 2, user_role::reader, request_kind::exists, command_turn::alone, ttl},
    {"pttl", 2, user_role::reader, request_kind::exists, command_turn::alone, pttl},
    {"type", 2, user_role::reader, request_kind::exists, command_turn::alone, type},
    {"del", -2, user_role::writer, request_kind::erase, command_turn::alone, del},
    {"unlink", -2, user_role::writer, request_kind::erase, command_turn::alone, del},
    {"expire", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::seconds>},
    {"pexpire", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::milliseconds>},
    {"expireat", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::unix_seconds>},
    {"pexpireat", -3, user_role::writer, request_kind::put, command_turn::alone,
     expire<expiry_unit::unix_milliseconds>},
    {"persist", 2, user_role::writer, request_kind::put, command_turn::alone, persist},
    {"keys", 2, user_role::admin, request_kind::list, command_turn::alone, keys},
    {"scan", -2, user_role::admin, request_kind::list, command_turn::alone, scan},
    {"dbsize", 1, user_role::admin, request_kind::list, command_turn::alone, dbsize},
    {"flushdb", -1, user_role::admin, request_kind::erase, command_turn::alone, flush},
    {"flushall", -1, user_role::admin, request_kind::erase, command_turn::alone, flush},
};

} // namespace

std::span<const resp_command> key_commands() noexcept { return key_table; }

} // namespace hearth::server
