#include "tests/support/simple_runner.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
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

// Only what is safe between fork and exec.
[[noreturn]] void become(const std::string& directory, char* const* argv, char* const* environment,
                         int output) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  if (directory.empty() || ::chdir(directory.c_str()) == 0) ::execve(argv[0], argv, environment);
  ::_exit(127);
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
  auto arguments = request.argv;
  auto environment = request.environment;
  const auto argv = pointers(arguments);
  const auto variables = pointers(environment);
  std::array<int, 2> output{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0)
    return fail(error_of_errno(errno, "cannot make a pipe"));
  const auto child = ::fork();
  if (child == 0) become(request.directory, argv.data(), variables.data(), output[1]);
  ::close(output[1]);
  process_result result;
  result.output = read_all(output[0]);
  ::close(output[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child)
    return fail(errc::process_failed, "cannot run " + request.argv[0]);
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
