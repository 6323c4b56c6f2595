// The remote tier's connections in a forked child, and in programs that are started.
#include "tests/support/asker.hpp"
#include "tests/support/local_redis.hpp"

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redis_fork_test {

using namespace hearth;
using namespace hearth::test;

namespace {

// Runs in a child that an alarm ends if it hangs. Returns its status, or minus the signal that
// ended it.
template <class Work>
int status_in_child(Work work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    ::_exit(work());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_socket(int number) {
  struct stat about {};
  return ::fstat(number, &about) == 0 && S_ISSOCK(about.st_mode);
}

} // namespace

TEST_CASE("redis fork: in the child a server answers closed and is destroyed without a wait") {
  const local_redis redis;
  auto server = connected(redis.url());
  REQUIRE(is_ok(ask(*server, {"SET", "k", "v"})));
  const int status = status_in_child([&] {
    bool closed = false;
    server->send(lane::reads, {"GET", "k"}, patient, [&](const remote_reply& reply) {
      closed = reply.failure == remote_failure::closed;
    });
    if (!closed) return 1;
    server->close();
    server.reset();
    return 0;
  });
  CHECK(status == 0);
  // The child's end does not affect the parent's connection.
  CHECK(ask(*server, {"GET", "k"}).value.text == "v");
}

TEST_CASE("redis fork: a child may open its own server") {
  const local_redis redis;
  const auto parents = connected(redis.url());
  REQUIRE(is_ok(ask(*parents, {"SET", "k", "v"})));
  const int status = status_in_child([&] {
    const auto own = connected(redis.url());
    const auto got = ask(*own, {"GET", "k"});
    own->close();
    return got.value.text == "v" ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("redis fork: programs that are started inherit no connection") {
  const local_redis redis({.tcp = true});
  const auto by_path = connected(redis.url());
  const auto by_port = connected("redis://127.0.0.1:" + std::to_string(redis.port()));
  REQUIRE(is_ok(ask(*by_path, {"PING"})));
  REQUIRE(is_ok(ask(*by_port, {"PING"})));
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int number = std::stoi(entry.path().filename().string());
    if (!is_socket(number) || number <= STDERR_FILENO) continue;
    ++sockets;
    CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(sockets >= 2);
  const std::unique_ptr<FILE, int (*)(FILE*)> program(
      ::popen("exec ls -l /proc/self/fd </dev/null 2>/dev/null", "r"), ::pclose);
  REQUIRE(program);
  std::string listed;
  for (int one = 0; (one = std::fgetc(program.get())) != EOF;)
    listed += static_cast<char>(one);
  CHECK(listed.find(" -> ") != std::string::npos);
  CHECK_MESSAGE(listed.find("socket:") == std::string::npos, listed);
}

} // namespace redis_fork_test
