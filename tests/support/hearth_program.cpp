#include "tests/support/hearth_program.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ; // NOLINT: POSIX's name

namespace hearth::test {
namespace {

std::filesystem::path unique_file(const std::filesystem::path& in, const char* ending) {
  static std::atomic<int> last{0};
  return in / (std::to_string(++last) + ending);
}

pid_t start(const std::vector<std::string>& arguments, const std::filesystem::path& in,
            const std::filesystem::path& out, const std::filesystem::path& err,
            const std::filesystem::path& directory) {
  std::vector<char*> argv;
  for (const auto& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str())); // NOLINT: posix_spawn changes nothing
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&files, directory.c_str());
  // A shell ignores SIGINT in tests that it starts in the background.
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM})
    sigaddset(&ends, number);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setsigdefault(&how, &ends);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int problem = posix_spawn(&pid, argv[0], &files, &how, argv.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  REQUIRE(problem == 0);
  return pid;
}

} // namespace

nlohmann::json program_result::json() const {
  auto parsed = nlohmann::json::parse(out, nullptr, false);
  REQUIRE_MESSAGE(!parsed.is_discarded(), "not JSON: ", out, " stderr: ", err);
  return parsed;
}

program_run::program_run(std::vector<std::string> arguments, const std::filesystem::path& scratch,
                         const std::filesystem::path& directory, const std::filesystem::path& in)
    : pid_(-1)
    , out_(unique_file(scratch, ".out"))
    , err_(unique_file(scratch, ".err")) {
  arguments.insert(arguments.begin(), HEARTH_PROGRAM);
  pid_ = start(arguments, in, out_, err_, directory);
}

program_run::program_run(program_run&& other) noexcept
    : pid_(std::exchange(other.pid_, -1))
    , out_(std::move(other.out_))
    , err_(std::move(other.err_)) {}

program_run::~program_run() {
  if (pid_ < 0) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void program_run::kill() { ::kill(pid_, SIGKILL); }

void program_run::signal(int number) const { ::kill(pid_, number); }

program_result program_run::wait() {
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), file_text(out_),
          file_text(err_)};
}

program_result program_run::wait_at_most(std::chrono::seconds time) {
  // By number: the header of glibc 2.36 declares the function in a way that C++ cannot link.
  pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)), POLLIN, 0};
  REQUIRE(ended.fd >= 0);
  const auto milliseconds = std::chrono::milliseconds(time).count();
  if (::poll(&ended, 1, static_cast<int>(milliseconds)) == 0) kill();
  ::close(ended.fd);
  return wait();
}

program_result run_hearth(std::vector<std::string> arguments,
                          const std::filesystem::path& scratch) {
  return program_run(std::move(arguments), scratch).wait();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

void check_error(const program_result& result, int status, const std::string& word) {
  CHECK(result.status == status);
  CHECK(result.out.empty());
  CHECK_MESSAGE(lines_of(result.err).size() == 1, result.err);
  CHECK_MESSAGE(result.err.find(word) != std::string::npos, result.err);
}

} // namespace hearth::test
