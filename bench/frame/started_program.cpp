#include "bench/frame/started_program.hpp"

#include "bench/frame/timing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <future>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ; // NOLINT: POSIX's name

namespace hearth::bench {
namespace {

// Whether a variable of this process sets what a row measures. HEARTH_WORKER only says where a
// program of Hearth's is.
bool is_left_out(std::string_view variable) {
  constexpr std::array<std::string_view, 4> prefixes{"HEARTH_", "CCACHE_", "MAKE", "MFLAGS="};
  return !variable.starts_with("HEARTH_WORKER=") &&
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::vector<char*> environment_of(const started_program& program) {
  std::vector<char*> all;
  for (char** at = environ; *at; ++at)
    if (!is_left_out(*at)) all.push_back(*at);
  for (const auto& variable : program.variables)
    all.push_back(const_cast<char*>(variable.c_str()));
  all.push_back(nullptr);
  return all;
}

// Starts the program with no signal blocked. Returns -1 when it cannot be started.
pid_t start(const started_program& program) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO})
    ::posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  if (!program.folder.empty())
    ::posix_spawn_file_actions_addchdir_np(&files, program.folder.c_str());
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (const auto& word : program.line)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  auto environment = environment_of(program);
  pid_t child = -1;
  const int problem =
      ::posix_spawnp(&child, arguments[0], &files, &how, arguments.data(), environment.data());
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  return problem == 0 ? child : -1;
}

} // namespace

std::string hearth_program() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "hearth").string();
}

void run_once(const started_program& program) {
  const pid_t child = start(program);
  if (child < 0) throw std::runtime_error(program.line.front() + " cannot be started");
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) throw std::runtime_error(program.line.front() + " failed");
}

void run_all(const std::vector<started_program>& programs, std::size_t at_once) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next++; i < programs.size(); i = next++)
      run_once(programs[i]);
  };
  std::vector<std::future<void>> workers;
  for (std::size_t i = 0; i < at_once; ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers)
    worker.get();
}

std::function<double()> turns_of(started_program program, std::size_t times) {
  return [program = std::move(program), times] {
    const stopwatch watch;
    for (std::size_t i = 0; i < times; ++i)
      run_once(program);
    return watch.seconds() / static_cast<double>(times);
  };
}

} // namespace hearth::bench
