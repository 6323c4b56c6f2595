#include "runtime/cli/commands/serve_command.hpp"

#include "runtime/cli/signal_watch.hpp"
#include "runtime/server/access/users_file.hpp"
#include "runtime/server/server.hpp"
#include "runtime/server/start_check.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::cli {
namespace {

using server::listener_settings;
using server::server_settings;

// --- settings ----------------------------------------------------------------------------------

bool is_role(std::string_view word) {
  for (const auto role :
       {server::user_role::reader, server::user_role::writer, server::user_role::admin})
    if (word == server::to_string(role)) return true;
  return false;
}

// Whether other hosts may reach this address.
bool is_reachable(std::string_view address) {
  if (address.starts_with("unix:")) return false;
  const auto parsed = server::parse_address(address);
  return parsed && !server::is_loopback(parsed->host);
}

// "resp=ADDRESS" as a table of a settings file has it.
expected<std::string> listen_table(const std::string& given, const serve_arguments& arguments) {
  const auto mark = given.find('=');
  if (mark == std::string::npos || given.find_first_of("\"\\\n") != std::string::npos)
    return fail(errc::invalid_argument,
                "--listen " + printable(given) +
                    ": PROTOCOL=ADDRESS is expected, as resp=127.0.0.1:6379 or http=unix:/PATH");
  const auto address = given.substr(mark + 1);
  if (arguments.role.empty() && is_reachable(address))
    return fail(errc::invalid_argument,
                "--listen " + given +
                    ": other hosts reach this address, and need no credentials; say what they may "
                    "do (--role reader, --role writer), or give a settings file with users");
  return fmt::format("[[listen]]\nprotocol = \"{}\"\naddress = \"{}\"\nanonymous = \"{}\"\n"
                     "hold_misses = {}\n",
                     given.substr(0, mark), address,
                     arguments.role.empty() ? "writer" : arguments.role, arguments.hold_misses);
}

// What is wrong with the table of one `--listen`, without a place in the table.
error in_words_of_option(const std::string& given, const error& why) {
  constexpr std::string_view member = "listen[0].";
  const auto text = why.text();
  const auto at = text.find(member);
  return {why.code(), "--listen " + printable(given) + ": " +
                          text.substr(at == text.npos ? 0 : at + member.size())};
}

expected<server_settings> settings_of_options(const config& settings,
                                              const serve_arguments& arguments) {
  if (arguments.listen.empty())
    return fail(errc::invalid_argument,
                "serve: give a settings file, or --listen resp=127.0.0.1:6379");
  if (!arguments.role.empty() && !is_role(arguments.role))
    return fail(errc::invalid_argument,
                "--role " + printable(arguments.role) + ": reader, writer or admin is expected");
  std::string text;
  for (const auto& one : arguments.listen) {
    auto table = listen_table(one, arguments);
    if (!table) return fail(table.error());
    if (auto read = server::parse_server_settings(*table, "--listen"); !read)
      return fail(in_words_of_option(one, read.error()));
    text += *table;
  }
  auto made = server::parse_server_settings(text, "--listen");
  if (!made) return made;
  made->cache = settings;
  if (arguments.given.verbose) made->log = log_level::debug;
  made->cache.log = stderr_log(made->log);
  return made;
}

expected<server_settings> settings_for(const config& settings, const serve_arguments& arguments) {
  if (arguments.file.empty()) return settings_of_options(settings, arguments);
  if (!arguments.listen.empty())
    return fail(errc::invalid_argument,
                "serve: --listen and a settings file exclude each other; write it in the file");
  auto made = server::read_server_settings(arguments.file);
  if (!made) return made;
  if (auto ok = put_over(made->cache, arguments.given); !ok) return fail(ok.error());
  if (made->cache.store.empty()) made->cache.store = settings.store;
  if (arguments.given.verbose) made->log = log_level::debug;
  made->cache.log = stderr_log(made->log);
  made->cache.guard_sigbus = settings.guard_sigbus;
  return made;
}

// --- small commands ----------------------------------------------------------------------------

status print_hash() {
  std::string password;
  if (!std::getline(std::cin, password) || password.empty())
    return report({errc::invalid_argument,
                   "serve --hash-password: standard input has no password in its first line"});
  const auto hash = server::hash_password(password);
  return hash ? print(*hash + '\n', yes) : report(hash.error());
}

status print_token() {
  const auto made = server::make_token();
  if (!made) return report(made.error());
  return print(made->token + '\n' + made->hash + '\n', yes);
}

// --- systemd -----------------------------------------------------------------------------------

// Tells the service manager, if there is one that wants to know (sd_notify(3)).
void notify_manager(std::string_view what) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un to{};
  if (!path || std::strlen(path) >= sizeof to.sun_path) return;
  to.sun_family = AF_UNIX;
  std::strcpy(to.sun_path, path);
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  const os::descriptor by(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (by)
    ::sendto(by.get(), what.data(), what.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&to), size);
}

// --- descriptors -------------------------------------------------------------------------------

// Each connection has a descriptor; the store has some hundreds at most. A shell's limit of 1,024
// is the program's to raise, up to the hard one.
void raise_descriptor_limit(std::size_t connections) {
  constexpr std::size_t others = 1'000;
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return;
  const auto wanted = std::min<rlim_t>(connections + others, now.rlim_max);
  if (now.rlim_cur >= wanted) return;
  now.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &now);
}

// --- serving -----------------------------------------------------------------------------------

std::string listening_text(const server::server& running) {
  std::string text;
  for (const auto& address : running.addresses())
    text += "listening: " + address + '\n';
  return text;
}

// SIGHUP: what the file says now, as far as a server that runs can follow.
expected<void> reload(server::server& running, const config& settings,
                      const serve_arguments& arguments) {
  if (arguments.file.empty()) return running.reload(running.settings());
  const auto read = settings_for(settings, arguments);
  if (!read) return fail(read.error());
  return running.reload(*read);
}

status run_server(const config& of_program, const serve_arguments& arguments,
                  server_settings settings) {
  raise_descriptor_limit(settings.limits.connections);
  const auto patience = settings.drain_deadline + signal_watch::default_patience;
  std::mutex mutex;
  server::server* running = nullptr;
  const signal_watch watch(
      [&] {
        const std::lock_guard lock(mutex);
        if (!running) return;
        notify_manager("RELOADING=1");
        if (const auto good = reload(*running, of_program, arguments); !good)
          report(good.error().within("not reloaded"));
        else
          say("hearth: users, certificates, limits and times are read again\n");
        notify_manager("READY=1");
      },
      patience);
  auto started = server::server::start(std::move(settings));
  if (!started) return report(started.error());
  {
    const std::lock_guard lock(mutex);
    running = started->get();
  }
  if (!write_stdout(listening_text(**started))) return unwritten();
  notify_manager("READY=1");
  const auto ended = (*started)->run(watch.token());
  notify_manager("STOPPING=1");
  {
    const std::lock_guard lock(mutex);
    running = nullptr;
  }
  if (ended != 0)
    say(fmt::format("hearth: {} connections were ended before they were done\n", ended));
  return yes;
}

} // namespace

status serve(const config& settings, const serve_arguments& arguments) {
  if (arguments.hash_password) return print_hash();
  if (arguments.new_token) return print_token();
  auto wanted = settings_for(settings, arguments);
  if (!wanted) return report(wanted.error());
  if (arguments.check) {
    const auto good = server::check_start(*wanted);
    return good ? print("the settings are right\n", yes) : report(good.error());
  }
  return run_server(settings, arguments, std::move(*wanted));
}

} // namespace hearth::cli
