#include "bench/peers/redis_process.hpp"

#include "runtime/net/redis_client.hpp"

#include <charconv>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <future>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::bench {
namespace {

struct started {
  pid_t pid;
  int output; // the read end of its stdout
};

// Starts a program that ends with this thread at the latest.
started start(const std::vector<std::string>& line) {
  std::vector<char*> arguments;
  for (const auto& word : line)
    arguments.push_back(const_cast<char*>(word.c_str())); // NOLINT: execvp takes it so
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  if (child < 0) throw std::runtime_error("cannot start " + line.front());
  return {child, ends[0]};
}

// The program's output until it contains `end`, or until the program ends.
std::string read_until(int output, std::string_view end) {
  std::string text;
  char part[4096];
  for (;;) {
    const auto got = ::read(output, part, sizeof part);
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (!end.empty() && text.find(end) != std::string::npos) return text;
  }
}

// The requests a second in `"GET ...","123456.78",...`, the last line of redis-benchmark's CSV.
double rate_of(std::string_view csv) {
  const auto line = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  const auto begin = line.find("\",\"");
  double rate = 0;
  if (begin != std::string_view::npos)
    std::from_chars(line.data() + begin + 3, line.data() + line.size(), rate);
  if (rate <= 0) throw std::runtime_error("redis-benchmark says nothing of use");
  return rate;
}

} // namespace

redis_process::redis_process(const std::filesystem::path& directory)
    : directory_(std::filesystem::absolute(directory)) {
  const auto server =
      start({"redis-server", "--port", "0", "--unixsocket", socket(), "--save", "", "--appendonly",
             "no", "--dir", directory_, "--daemonize", "no", "--logfile", ""});
  pid_ = server.pid;
  log_ = server.output;
  constexpr std::string_view ready = "ready to accept connections at";
  if (read_until(log_, ready).find(ready) == std::string::npos)
    throw std::runtime_error("redis-server cannot be started: install the package redis-server");
}

redis_process::~redis_process() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(log_);
}

void redis_process::freeze(bool stopped) const { ::kill(pid_, stopped ? SIGSTOP : SIGCONT); }

void redis_process::fill(std::size_t names, std::size_t value_bytes) const {
  using actors::remote_client;
  using actors::remote_reply;
  const auto server = net::connect_redis(*net::parse_remote_url(url()));
  if (!server) throw std::runtime_error(server.error().text());
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < names; ++i) {
    std::string bytes(value_bytes, '\0');
    for (auto& byte : bytes)
      byte = static_cast<char>(random());
    const auto answer = std::make_shared<std::promise<remote_reply>>();
    (*server)->send(remote_client::lane::writes, {"SET", fmt::format("k{:012}", i), bytes},
                    std::chrono::minutes(1),
                    [answer](remote_reply reply) { answer->set_value(std::move(reply)); });
    if (const auto reply = answer->get_future().get(); !reply.problem.empty())
      throw std::runtime_error(reply.problem);
  }
}

double redis_process::seconds_an_operation(std::size_t requests, std::size_t depth,
                                           std::size_t names,
                                           const std::vector<std::string>& command) const {
  std::vector<std::string> line{"redis-benchmark",
                                "-s",
                                socket(),
                                "-c",
                                "1",
                                "-P",
                                std::to_string(depth),
                                "-n",
                                std::to_string(requests),
                                "-r",
                                std::to_string(names),
                                "--csv"};
  line.insert(line.end(), command.begin(), command.end());
  const auto run = start(line);
  const auto csv = read_until(run.output, "");
  ::close(run.output);
  int status = 0;
  ::waitpid(run.pid, &status, 0);
  if (status != 0) throw std::runtime_error("redis-benchmark failed");
  return 1 / rate_of(csv);
}

} // namespace hearth::bench
