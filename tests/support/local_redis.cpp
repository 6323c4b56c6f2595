#include "tests/support/local_redis.hpp"

#include "tests/support/files.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace hearth::test {
namespace {

constexpr int start_deadline_ms = 30'000;

// The Unix socket is the last listener that a server opens; a sentinel says who it is after it has
// opened its port.
bool says_ready(const std::string& log, bool is_sentinel) {
  const auto has = [&](const char* text) { return log.find(text) != std::string::npos; };
  if (is_sentinel) return has("Sentinel ID is");
  return has("ready to accept connections at") || // Redis 7.0
         has("Ready to accept connections unix"); // later ones, and Valkey
}

// Whether the log says that the server is ready; false if it ends before.
bool wait_until_ready(int log, std::string& text, bool is_sentinel) {
  char part[4096];
  for (;;) {
    pollfd waits{log, POLLIN, 0};
    if (::poll(&waits, 1, start_deadline_ms) <= 0) return false;
    const auto got = ::read(log, part, sizeof part);
    if (got <= 0) return false;
    text.append(part, static_cast<std::size_t>(got));
    if (says_ready(text, is_sentinel)) return true;
  }
}

} // namespace

local_redis::local_redis(redis_setup setup)
    : setup_(std::move(setup)) {
  if (setup_.tcp) port_.emplace();
  if (setup_.tls) tls_port_.emplace();
  REQUIRE_MESSAGE(try_start(), "redis-server cannot be started; is it installed (scripts/setup)?");
}

local_redis::~local_redis() { kill(); }

std::int64_t local_redis::eval(const std::string& script) const {
  const os::descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = socket().string();
  REQUIRE(path.size() < sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  REQUIRE(::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                    sizeof address) == 0);
  const auto command =
      "*3\r\n$4\r\nEVAL\r\n$" + std::to_string(script.size()) + "\r\n" + script + "\r\n$1\r\n0\r\n";
  REQUIRE(os::write_all(connection.get(), command));
  std::string reply;
  char part[256];
  while (!reply.ends_with("\r\n")) {
    const auto got = ::read(connection.get(), part, sizeof part);
    REQUIRE(got > 0);
    reply.append(part, static_cast<std::size_t>(got));
  }
  REQUIRE_MESSAGE(reply.starts_with(':'), reply);
  return std::stoll(reply.substr(1));
}

void local_redis::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

void local_redis::start() {
  if (pid_ > 0) return;
  REQUIRE_MESSAGE(try_start(), "redis-server cannot be started again at its places");
}

void local_redis::freeze() { REQUIRE(::kill(pid_, SIGSTOP) == 0); }

void local_redis::thaw() { REQUIRE(::kill(pid_, SIGCONT) == 0); }

std::vector<std::string> local_redis::command_line() const {
  auto line = setup_.is_sentinel ? sentinel_line() : server_line();
  if (setup_.tls)
    line.insert(line.end(), {"--tls-port", std::to_string(tls_port()), "--tls-cert-file",
                             setup_.certificate, "--tls-key-file", setup_.key, "--tls-ca-cert-file",
                             setup_.ca, "--tls-auth-clients", setup_.ask_clients ? "yes" : "no"});
  if (!setup_.password.empty()) line.insert(line.end(), {"--requirepass", setup_.password});
  line.insert(line.end(), setup_.arguments.begin(), setup_.arguments.end());
  return line;
}

std::vector<std::string> local_redis::sentinel_line() const {
  const auto file = directory_ / "sentinel.conf"; // which it writes
  write_text(file, "");
  return {"redis-server", file,        "--sentinel", "--port",         std::to_string(port()),
          "--bind",       "127.0.0.1", "--dir",      directory_.path()};
}

std::vector<std::string> local_redis::server_line() const {
  return {"redis-server",
          "--port",
          std::to_string(port()),
          "--bind",
          "127.0.0.1",
          "-::1",
          "--unixsocket",
          socket(),
          "--unixsocketperm",
          "700",
          "--save",
          "",
          "--appendonly",
          "no",
          "--dir",
          directory_.path(),
          "--daemonize",
          "no",
          "--loglevel",
          "notice",
          "--logfile",
          ""};
}

bool local_redis::try_start() {
  auto log = os::make_pipe();
  REQUIRE(log);
  const auto line = command_line();
  std::vector<char*> arguments;
  for (const auto& word : line)
    arguments.push_back(const_cast<char*>(word.c_str())); // execvp takes char*
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(log->theirs.get(), STDOUT_FILENO);
    ::dup2(log->theirs.get(), STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  pid_ = child;
  log->theirs.reset();
  output_ = std::move(log->ours);
  std::string text;
  if (wait_until_ready(output_.get(), text, setup_.is_sentinel)) return true;
  MESSAGE("redis-server did not start: " << text);
  kill();
  return false;
}

} // namespace hearth::test
