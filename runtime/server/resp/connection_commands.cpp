// Commands about the connection: who the client is, and which protocol and database it uses.
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "storage/resp/resp_handshake.hpp"

#include <algorithm>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::string_view default_user = "default";
constexpr std::string_view no_password_set =
    "ERR AUTH <password> called without any password configured for the default user. Are you sure "
    "your configuration is correct?";

std::string refusal_text(const error& why) {
  return why.code() == errc::permission
             ? "WRONGPASS invalid username-password pair or user is disabled."
             : "ERR " + why.text();
}

// Checks a password; `next` is called on the connection's thread with the user or an error.
void check(resp_session& in, std::string_view user, std::string_view password,
           std::function<void(expected<identity_ptr>)> next) {
  auto& users = in.context().users;
  users.check_password(user, password, in.host().peer(),
                       [&in, weak = in.host().weak_from_this(), call = in.begin_waiting(),
                        next = std::move(next)](expected<identity_ptr> who) {
                         const auto living = weak.lock();
                         if (!living) return;
                         living->post([&in, call, next, who = std::move(who)] {
                           in.context().note_credentials(who, in.host().peer());
                           next(who);
                           in.end_waiting(call);
                         });
                       });
}

void auth(resp_session& in, const resp_words& words) {
  if (words.size() > 3) return in.reply().error(syntax_error);
  const bool has_name = words.size() == 3;
  if (!has_name && in.host().anonymous() && !in.context().users.user_named(default_user))
    return in.reply().error(no_password_set);
  check(in, has_name ? std::string_view(words[1]) : default_user, words.back(),
        [&in](const expected<identity_ptr>& who) {
          if (!who) return in.reply().error(refusal_text(who.error()));
          if (in.become(*who, in.database())) in.reply().status("OK");
        });
}

// --- HELLO -------------------------------------------------------------------------------------

void reply_hello(resp_session& in) {
  auto& reply = in.reply();
  reply.map(7);
  reply.bytes("server");
  reply.bytes("redis");
  reply.bytes("version");
  reply.bytes(compatible_redis_version);
  reply.bytes("proto");
  reply.integer(reply.version());
  reply.bytes("id");
  reply.integer(static_cast<std::int64_t>(in.id()));
  reply.bytes("mode");
  reply.bytes("standalone");
  reply.bytes("role");
  reply.bytes("master");
  reply.bytes("modules");
  reply.array(1);
  reply.map(2);
  reply.bytes("name");
  reply.bytes(storage::hearth_module);
  reply.bytes("ver");
  reply.integer(storage::hearth_module_version);
}

bool is_client_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

constexpr std::string_view bad_client_name =
    "ERR Client names cannot contain spaces, newlines or special characters.";

struct hello_options {
  unsigned version = 0; // 0: as it is
  std::optional<std::pair<std::string, std::string>> user;
  std::optional<std::string> name;
};

expected<hello_options> parse_hello(const resp_words& words) {
  hello_options options;
  if (words.size() > 1) {
    const auto version = parse_integer(words[1]);
    if (!version)
      return fail(errc::malformed, "ERR Protocol version is not an integer or out of range");
    if (*version != 2 && *version != 3)
      return fail(errc::malformed, "NOPROTO unsupported protocol version");
    options.version = static_cast<unsigned>(*version);
  }
  for (std::size_t i = 2; i < words.size();) {
    const auto left = words.size() - i;
    if (equal_ignoring_case(words[i], "auth") && left > 2) {
      options.user = {words[i + 1], words[i + 2]};
      i += 3;
    } else if (equal_ignoring_case(words[i], "setname") && left > 1) {
      options.name = words[i + 1];
      i += 2;
    } else {
      return fail(errc::malformed, "ERR Syntax error in HELLO option '" + words[i] + "'");
    }
  }
  if (options.name && !is_client_name(*options.name))
    return fail(errc::malformed, std::string(bad_client_name));
  return options;
}

void finish_hello(resp_session& in, const hello_options& options) {
  if (!in.who())
    return in.reply().error("NOAUTH HELLO must be called with the client already authenticated, "
                            "otherwise the HELLO <proto> AUTH <user> <pass> option can be used to "
                            "authenticate the client and select the RESP protocol version at the "
                            "same time");
  if (options.version != 0) in.reply().set_version(options.version);
  if (options.name) in.client_name() = *options.name;
  reply_hello(in);
}

void hello(resp_session& in, const resp_words& words) {
  auto options = parse_hello(words);
  if (!options) return in.reply().error(options.error().text());
  if (!options->user) return finish_hello(in, *options);
  const auto [user, password] = *options->user;
  check(in, user, password, [&in, options = *options](const expected<identity_ptr>& who) {
    if (!who) return in.reply().error(refusal_text(who.error()));
    if (in.become(*who, in.database())) finish_hello(in, options);
  });
}

// --- CLIENT ------------------------------------------------------------------------------------

std::string client_info(resp_session& in) {
  return "id=" + std::to_string(in.id()) + " addr=" + in.host().peer() +
         " name=" + in.client_name() + " db=" + std::to_string(in.database()) +
         " resp=" + std::to_string(in.reply().version()) + " user=" + in.who()->user + "\n";
}

struct subcommand {
  std::string_view name;
  std::size_t words; // 0: any number
};

constexpr subcommand client_subcommands[] = {
    {"setname", 3}, {"setinfo", 4}, {"no-evict", 3}, {"no-touch", 3},
    {"getname", 2}, {"id", 2},      {"info", 2},     {"list", 0},
};

bool is_switch(std::string_view word) {
  return equal_ignoring_case(word, "on") || equal_ignoring_case(word, "off");
}

void client(resp_session& in, const resp_words& words) {
  const auto& what = words[1];
  auto& reply = in.reply();
  const auto* const known =
      std::find_if(std::begin(client_subcommands), std::end(client_subcommands),
                   [&](const auto& one) { return equal_ignoring_case(what, one.name); });
  if (known == std::end(client_subcommands))
    return reply.error("ERR unknown subcommand '" + what.substr(0, 128) + "'. Try CLIENT HELP.");
  if (known->words != 0 && words.size() != known->words)
    return reply.error(wrong_subcommand_arity("client|" + std::string(known->name)));
  if (equal_ignoring_case(what, "setname")) {
    if (!is_client_name(words[2])) return reply.error(bad_client_name);
    in.client_name() = words[2];
    return reply.status("OK");
  }
  if (equal_ignoring_case(what, "setinfo")) return reply.status("OK");
  if (equal_ignoring_case(what, "no-evict") || equal_ignoring_case(what, "no-touch"))
    return is_switch(words[2]) ? reply.status("OK") : reply.error(syntax_error);
  if (equal_ignoring_case(what, "getname")) {
    return in.client_name().empty() ? reply.null() : reply.bytes(in.client_name());
  }
  if (equal_ignoring_case(what, "id")) return reply.integer(static_cast<std::int64_t>(in.id()));
  const bool has_filter = words.size() > 3 && (equal_ignoring_case(words[2], "type") ||
                                               equal_ignoring_case(words[2], "id"));
  if (words.size() > 2 && !has_filter) return reply.error(syntax_error);
  // INFO or LIST, which names this connection alone: a client is not told of others.
  reply.bytes(client_info(in));
}

// --- the others --------------------------------------------------------------------------------

void ping(resp_session& in, const resp_words& words) {
  if (words.size() > 2) return in.reply().error("ERR wrong number of arguments for 'ping' command");
  words.size() == 2 ? in.reply().bytes(words[1]) : in.reply().status("PONG");
}

void echo(resp_session& in, const resp_words& words) { in.reply().bytes(words[1]); }

void select(resp_session& in, const resp_words& words) {
  const auto number = parse_integer(words[1]);
  if (!number) return in.reply().error("ERR value is not an integer or out of range");
  if (*number < 0 || *number >= database_count)
    return in.reply().error("ERR DB index is out of range");
  if (in.become(in.who(), static_cast<unsigned>(*number))) in.reply().status("OK");
}

void reset(resp_session& in, const resp_words&) {
  in.reset();
  in.reply().status("RESET");
}

void quit(resp_session& in, const resp_words&) {
  in.reply().status("OK");
  in.quit();
}

constexpr resp_command connection_table[] = {
    {"auth", -2, user_role::reader, request_kind::other, command_turn::alone, auth, nullptr, false},
    {"hello", -1, user_role::reader, request_kind::other, command_turn::alone, hello, nullptr,
     false},
    {"quit", -1, user_role::reader, request_kind::other, command_turn::alone, quit, nullptr, false},
    {"reset", 1, user_role::reader, request_kind::other, command_turn::alone, reset, nullptr,
     false},
    {"ping", -1, user_role::reader, request_kind::other, command_turn::alone, ping},
    {"echo", 2, user_role::reader, request_kind::other, command_turn::alone, echo},
    {"select", 2, user_role::reader, request_kind::other, command_turn::alone, select},
    {"client", -2, user_role::reader, request_kind::other, command_turn::alone, client},
};

} // namespace

std::span<const resp_command> connection_commands() noexcept { return connection_table; }

} // namespace hearth::server
