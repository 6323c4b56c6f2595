// Commands about the server, and Hearth's own: leases for clients that know them.
#include "runtime/server/entries/unix_time.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "runtime/server/sending_room.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace hearth::server {
namespace {

void info(resp_session& in, const resp_words&) {
  const auto text = std::make_shared<std::string>();
  in.reply_after([&context = in.context(), text] { *text = context.info_text(); },
                 [&in, text] { in.reply().bytes(*text); });
}

// --- CONFIG ------------------------------------------------------------------------------------

// What clients ask for; the server has no other parameters under Redis's names.
std::vector<std::pair<std::string, std::string>> parameters(const server_context& context) {
  return {{"save", ""},
          {"appendonly", "yes"},
          {"databases", "16"},
          {"maxmemory", std::to_string(context.settings.cache.memory_budget_bytes)},
          {"maxmemory-policy", "allkeys-lru"},
          {"proto-max-bulk-len", std::to_string(context.limits().value_bytes)},
          {"maxclients", std::to_string(context.limits().connections)},
          {"timeout", std::to_string(context.limits().idle_time.count() / 1000)}};
}

void config_get(resp_session& in, const resp_words& words) {
  std::vector<std::pair<std::string, std::string>> found;
  for (auto& one : parameters(in.context()))
    if (std::any_of(words.begin() + 2, words.end(),
                    [&](const auto& pattern) { return matches_pattern(one.first, pattern); }))
      found.push_back(std::move(one));
  in.reply().map(found.size());
  for (const auto& [name, value] : found) {
    in.reply().bytes(name);
    in.reply().bytes(value);
  }
}

void config_set(resp_session& in, const resp_words& words) {
  if (words.size() != 4 || !equal_ignoring_case(words[2], "requirepass"))
    return in.reply().error("ERR CONFIG SET knows 'requirepass' alone; the others are in the "
                            "server's settings file");
  // It concerns the clients of every namespace.
  if (!in.who()->name_space.empty())
    return in.reply().error("NOPERM only an admin of the trusted namespace may set 'requirepass'");
  const auto problem = std::make_shared<expected<void>>();
  in.reply_after([&context = in.context(), password = words[3],
                  problem] { *problem = context.require_password(password); },
                 [&in, problem] {
                   *problem ? in.reply().status("OK")
                            : in.reply().error(failure_text(problem->error()));
                 });
}

void configure(resp_session& in, const resp_words& words) {
  if (equal_ignoring_case(words[1], "get"))
    return words.size() > 2 ? config_get(in, words)
                            : in.reply().error(wrong_subcommand_arity("config|get"));
  if (equal_ignoring_case(words[1], "set"))
    return words.size() > 3 && words.size() % 2 == 0
               ? config_set(in, words)
               : in.reply().error(wrong_subcommand_arity("config|set"));
  in.reply().error("ERR unknown subcommand '" + words[1].substr(0, 128) + "'. Try CONFIG HELP.");
}

// --- COMMAND -----------------------------------------------------------------------------------

std::size_t command_count() {
  std::size_t count = 0;
  for (const auto table : command_tables())
    count += table.size();
  return count;
}

// What clients learn of a command: its name, arity and flags.
void reply_command(resp_session& in, const resp_command& command) {
  auto& reply = in.reply();
  const bool has_key = command.kind != request_kind::other && command.kind != request_kind::list;
  reply.array(6);
  reply.bytes(command.name);
  reply.integer(command.arity);
  reply.array(1);
  reply.status(command.role == user_role::reader ? "readonly" : "write");
  reply.integer(has_key ? 1 : 0);
  reply.integer(has_key ? 1 : 0);
  reply.integer(has_key ? 1 : 0);
}

void command(resp_session& in, const resp_words& words) {
  auto& reply = in.reply();
  if (words.size() == 1) {
    reply.array(command_count());
    for (const auto table : command_tables())
      for (const auto& one : table)
        reply_command(in, one);
    return;
  }
  if (equal_ignoring_case(words[1], "count") && words.size() > 2)
    return reply.error(wrong_subcommand_arity("command|count"));
  if (equal_ignoring_case(words[1], "count"))
    return reply.integer(static_cast<std::int64_t>(command_count()));
  // No documentation: clients then show no hints.
  if (equal_ignoring_case(words[1], "docs")) return reply.map(0);
  if (equal_ignoring_case(words[1], "info")) {
    reply.array(words.size() - 2);
    for (std::size_t i = 2; i < words.size(); ++i)
      if (const auto* const one = find_command(words[i]))
        reply_command(in, *one);
      else
        reply.null();
    return;
  }
  reply.error("ERR unknown subcommand '" + words[1].substr(0, 128) + "'. Try COMMAND HELP.");
}

void time(resp_session& in, const resp_words&) {
  const auto now = unix_time_us();
  in.reply().array(2);
  in.reply().bytes(std::to_string(now / 1'000'000));
  in.reply().bytes(std::to_string(now % 1'000'000));
}

// --- leases ------------------------------------------------------------------------------------

void reply_found(resp_session& in, const expected<lookup>& found) {
  if (found && found->hit() && type_of(found->value) != entry_type::string)
    return in.reply().error(wrong_type);
  const bool hit =
      found && found->hit() && may_send(in.host(), in.context(), found->value.payload().size());
  hit ? in.note_hit(found->value.payload().size(), time_taken(found->value)) : in.note_miss();
  hit ? in.reply().bytes(found->value, 0, found->value.payload().size()) : in.reply().null();
}

// HEARTH.ACQUIRE KEY: the value, or nil and this connection is the holder until it sets or abandons
// the key, ends, or the holder's time is over. Waits for another holder, at most `hold.wait`.
void acquire(resp_session& in, const resp_words& words) {
  in.leases().get(words[1], [&in, call = in.begin_waiting()](const expected<lookup>& found) {
    reply_found(in, found);
    in.end_waiting(call);
  });
}

// A reader whose writes are ignored looks up, and holds nothing that others would wait for.
void look_only(resp_session& in, const resp_words& words) {
  in.reply_later(in.entries().get(words[1]),
                 [&in](const expected<lookup>& found) { reply_found(in, found); });
}

// HEARTH.FULFIL KEY VALUE: ends this connection's lease with the value. 0: it held none, and
// nothing is stored.
void fulfil(resp_session& in, const resp_words& words) {
  if (!in.leases().holds(words[1])) return in.reply().integer(0);
  in.leases().put(
      words[1], make_value(words[2], 0, members_of(in.leases().held_for(words[1]))),
      [&in, call = in.begin_waiting(), size = words[2].size()](const expected<done>& stored) {
        stored ? in.note_write(size) : in.note_failed();
        stored ? in.reply().integer(1) : in.reply().error(failure_text(stored.error()));
        in.end_waiting(call);
      });
}

// HEARTH.ABANDON KEY: gives this connection's lease to the next that waits. 0: it held none.
void abandon(resp_session& in, const resp_words& words) {
  in.reply().integer(in.leases().abandon(words[1]) ? 1 : 0);
}

constexpr resp_command server_table[] = {
    {"info", -1, user_role::reader, request_kind::other, command_turn::alone, info},
    {"command", -1, user_role::reader, request_kind::other, command_turn::alone, command, nullptr,
     false},
    {"time", 1, user_role::reader, request_kind::other, command_turn::alone, time},
    {"config", -2, user_role::admin, request_kind::other, command_turn::alone, configure},
    {"hearth.acquire", 2, user_role::writer, request_kind::get, command_turn::alone, acquire,
     look_only},
    {"hearth.fulfil", 3, user_role::writer, request_kind::put, command_turn::alone, fulfil,
     ignore_with_number<1>},
    {"hearth.abandon", 2, user_role::writer, request_kind::other, command_turn::alone, abandon,
     ignore_with_number<0>},
};

} // namespace

std::span<const resp_command> server_commands() noexcept { return server_table; }

} // namespace hearth::server
