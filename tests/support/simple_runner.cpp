#include "tests/support/simple_runner.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearth::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Starts the program with `output` as its stdout and stderr. Returns zero or an error number.
int start(const process_request& request, int output, pid_t& child) {
  auto arguments = request.argv;
  auto environment = request.environment;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, 1);
  ::posix_spawn_file_actions_adddup2(&actions, output, 2);
  if (!request.directory.empty())
    ::posix_spawn_file_actions_addchdir_np(&actions, request.directory.c_str());
  const int failed = ::posix_spawn(&child, arguments[0].c_str(), &actions, nullptr,
                                   pointers(arguments).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  return failed;
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto got = ::read(descriptor, buffer.data(), buffer.size());
    if (got > 0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return text;
  }
}

} // namespace

expected<process_result> simple_runner::run(const process_request& request, std::stop_token) {
  {
    const std::lock_guard lock(guard_);
    commands_.push_back(request.argv);
  }
  std::array<int, 2> output{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0)
    return fail(error_of_errno(errno, "cannot make a pipe"));
  pid_t child = 0;
  const int failed = start(request, output[1], child);
  ::close(output[1]);
  process_result result;
  if (failed == 0) result.output = read_all(output[0]);
  ::close(output[0]);
  if (failed != 0) return fail(errc::process_failed, "cannot start " + request.argv[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child)
    return fail(errc::process_failed, "cannot wait for " + request.argv[0]);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

int simple_runner::count() const {
  const std::lock_guard lock(guard_);
  return static_cast<int>(commands_.size());
}

std::vector<std::vector<std::string>> simple_runner::commands() const {
  const std::lock_guard lock(guard_);
  return commands_;
}

} // namespace hearth::test
