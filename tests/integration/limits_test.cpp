// Programs with little of what a system gives: files, threads, descriptors, memory. Each command
// ends with a status and says why in one line, SIGTERM ends it at any time, and the store stays
// intact.
// HEARTH_LIMIT_VALUES=N goes from the least to the most of each limit in N steps instead of 9.
//
// A limit below what the program needs to be loaded is not Hearth's: the dynamic loader itself ends
// the process then, with status 127 and "error while loading shared libraries".
#include "tests/support/hearth_program.hpp"
#include "tests/support/lacks_root.hpp"
#include "tests/support/small_plan.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace limits_test {

using namespace hearth::test;
namespace fs = std::filesystem;
using words = std::vector<std::string>;

namespace {

constexpr uid_t nobody = 65534;
constexpr int hang_ms = 10'000;
constexpr int cannot_execute = 126;

// A sanitizer needs threads, descriptors and a large address space of its own.
#ifdef __SANITIZE_ADDRESS__
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

// A limit of a process; `as_nobody`: it is another user's, since root has no limit of processes.
struct limit {
  decltype(RLIMIT_AS) what;
  rlim_t value;
  bool as_nobody = false;
};

// In the child of a fork: system calls only.
[[noreturn]] void become(char** argv, const char* folder, const limit& given, int in, int out,
                         int err) {
  const bool is_ready =
      ::chdir(folder) == 0 && ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(err, 2) == 2;
  const bool is_user = !given.as_nobody || (::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 &&
                                            ::setuid(nobody) == 0);
  const rlimit both{given.value, given.value};
  ::closefrom(3); // a descriptor of the test's caller would take one of the few
  const bool is_limited = given.value == RLIM_INFINITY || ::setrlimit(given.what, &both) == 0;
  // The test program handles SIGTERM, which is blocked until here.
  sigset_t none;
  ::sigemptyset(&none);
  ::signal(SIGTERM, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (is_ready && is_user && is_limited) ::execv(argv[0], argv);
  ::_exit(cannot_execute);
}

// A run of hearth under a limit. The destructor kills it if it still runs.
class limited_run {
public:
  limited_run(words arguments, const fs::path& folder, const limit& given)
      : out_(folder / "out")
      , err_(folder / "err") {
    arguments.insert(arguments.begin(), HEARTH_PROGRAM);
    std::vector<char*> argv;
    for (auto& word : arguments)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open(out_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    const int err = ::open(err_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    process_ = ::fork();
    if (process_ == 0) become(argv.data(), folder.c_str(), given, in, out, err);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    REQUIRE(process_ > 0);
    // By number: the header of glibc 2.36 declares the function in a way that C++ cannot link.
    handle_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
    for (const int one : {in, out, err})
      ::close(one);
  }
  limited_run(const limited_run&) = delete;
  limited_run& operator=(const limited_run&) = delete;
  ~limited_run() {
    signal(SIGKILL);
    ::close(handle_);
    if (process_ > 0) ::waitpid(process_, nullptr, 0);
  }

  // Returns whether it ended within that time.
  bool ends_within(int milliseconds) const {
    pollfd ended{handle_, POLLIN, 0};
    return ::poll(&ended, 1, milliseconds) == 1;
  }
  void signal(int number) const {
    if (process_ > 0) ::kill(process_, number);
  }
  // A hang is the status -SIGKILL.
  program_result wait() {
    if (!ends_within(hang_ms)) signal(SIGKILL);
    int status = 0;
    ::waitpid(std::exchange(process_, -1), &status, 0);
    return {WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), file_text(out_),
            file_text(err_)};
  }

private:
  fs::path out_;
  fs::path err_;
  pid_t process_ = -1;
  int handle_ = -1;
};

std::vector<words> commands_for(rlim_t value) {
  const auto distinct = ": " + std::to_string(value); // not the action of another value
  return {{"get", "--store", "S", "k"},
          {"put", "--store", "S", "k", "file"},
          {"run", "--store", "S", "--in", "file", "--out", "copy", "--", "sh", "-c",
           "cp file copy; " + distinct},
          {"compile", "--store", "S", "plan.toml"}};
}

bool is_loaders_end(const program_result& ended) {
  const auto says = [&](const char* text) { return ended.err.find(text) != std::string::npos; };
  return ended.status == 127 && (says("error while loading shared libraries") ||
                                 says("cannot allocate TLS data structures"));
}

// A store that has the key `k`, and what the commands need.
struct limited_folder {
  limited_folder() {
    write_text(directory / "file", "one value");
    // g++ waits by itself, for seconds, while it cannot start its own programs: hence the timeout.
    write_small_plan(directory.path(), "timeout = \"300ms\"\n");
    CHECK(run({"put", "--store", "S", "k", "file"}, no_limit).status == 0);
  }

  program_result run(const words& arguments, const limit& given) const {
    return limited_run(arguments, directory.path(), given).wait();
  }
  void check_intact(limit given) const {
    given.value = RLIM_INFINITY;
    if (given.what == RLIMIT_NOFILE) given = no_limit;
    CHECK(run({"verify", "--store", "S"}, given).status == 0);
  }

  // A status of its own, and at most one line of an error beside the warnings.
  static void check_end(const program_result& ended) {
    if (is_loaders_end(ended)) return;
    constexpr std::array statuses{0, 1, 2, 3, 124, 125};
    CHECK_MESSAGE(std::count(statuses.begin(), statuses.end(), ended.status) == 1, ended.status,
                  ": ", ended.err);
    const auto lines = lines_of(ended.err); // those of the progress and of commands included
    const auto errors = std::count_if(lines.begin(), lines.end(), [](const auto& line) {
      return line.starts_with("hearth: ") && !line.starts_with("hearth: warning: ");
    });
    CHECK_MESSAGE(errors <= 1, ended.err);
    if (ended.status != 0) CHECK(!lines.empty());
  }

  // Runs all commands with values from `min` to `max`, and each again with SIGTERM after some time.
  void sweep(limit given, rlim_t min, rlim_t max) const {
    const char* text = std::getenv("HEARTH_LIMIT_VALUES");
    const rlim_t count = text ? static_cast<rlim_t>(std::atoi(text)) : 9;
    for (rlim_t i = 0; i <= count; ++i) {
      given.value = min + (max - min) * i / count;
      CAPTURE(given.value);
      for (const auto& arguments : commands_for(given.value)) {
        CAPTURE(arguments.front());
        check_end(run(arguments, given));
        end_by_signal(arguments, given, static_cast<int>(i));
      }
      check_intact(given);
    }
  }
  void end_by_signal(const words& arguments, const limit& given, int after_ms) const {
    CAPTURE(after_ms);
    limited_run one(arguments, directory.path(), given);
    if (!one.ends_within(after_ms)) one.signal(SIGTERM);
    const auto ended = one.wait();
    if (ended.status != -SIGTERM && ended.status != 128 + SIGTERM) check_end(ended);
  }

  static constexpr limit no_limit{RLIMIT_CORE, 0};
  temporary_directory directory;
};

} // namespace

TEST_CASE_FIXTURE(limited_folder,
                  "commands with few descriptors end, and say why" * doctest::skip(is_sanitized)) {
  sweep({RLIMIT_NOFILE, 0}, 0, 64);
}

TEST_CASE_FIXTURE(limited_folder, "commands with little address space end, and say why" *
                                      doctest::skip(is_sanitized)) {
  // With less, the system itself ends the process before the program begins.
  const auto loadable = fs::file_size(HEARTH_RUNTIME) + (rlim_t{4} << 20);
  sweep({RLIMIT_AS, 0}, loadable, rlim_t{256} << 20);
}

TEST_CASE_FIXTURE(limited_folder, "commands with few threads end, and say why" *
                                      doctest::skip(is_sanitized || lacks_root())) {
  for (const auto& one : fs::recursive_directory_iterator(directory.path()))
    REQUIRE(::lchown(one.path().c_str(), nobody, nobody) == 0);
  REQUIRE(::chown(directory.path().c_str(), nobody, nobody) == 0);
  if (run({"--version"}, {RLIMIT_NPROC, RLIM_INFINITY, true}).status == cannot_execute) {
    MESSAGE("skipped: another user cannot execute " HEARTH_PROGRAM);
    return;
  }
  sweep({RLIMIT_NPROC, 0, true}, 0, 16);
}

// A compiler needs less than Hearth does.
TEST_CASE_FIXTURE(limited_folder,
                  "a compile with little address space or few threads runs as it is" *
                      doctest::skip(is_sanitized || lacks_root())) {
  write_text(directory / "a.c", "int a;\n");
  for (const auto& one : fs::recursive_directory_iterator(directory.path()))
    REQUIRE(::lchown(one.path().c_str(), nobody, nobody) == 0);
  REQUIRE(::chown(directory.path().c_str(), nobody, nobody) == 0);
  for (const auto& given : {limit{RLIMIT_AS, 100'000'000}, limit{RLIMIT_AS, 60'000'000},
                            limit{RLIMIT_NPROC, 5, true}}) {
    CAPTURE(given.value);
    fs::remove(directory / "a.o");
    const auto ended = run({"cc", "gcc", "-c", "a.c"}, given);
    if (ended.status == cannot_execute) continue; // another user cannot execute Hearth
    CHECK_MESSAGE(ended.status == 0, ended.err);
    CHECK(ended.err == "");
    CHECK(fs::exists(directory / "a.o"));
  }
}

TEST_CASE_FIXTURE(limited_folder, "a run with too few descriptors names them as the reason" *
                                      doctest::skip(is_sanitized)) {
  for (const rlim_t few : {4, 8, 20})
    check_error(run({"run", "--store", "S", "--", "true"}, {RLIMIT_NOFILE, few}), 125,
                "Too many open files");
}

TEST_CASE_FIXTURE(limited_folder,
                  "a file past its size limit is an error of the store, not the end by a signal") {
  // stdout and stderr are files, too, and may not grow: only the statuses are seen.
  const limit no_bytes{RLIMIT_FSIZE, 0};
  CHECK(run({"put", "--store", "S", "k", "file"}, no_bytes).status == 3);
  CHECK(run({"put", "--store", "T", "k", "file"}, no_bytes).status == 3);
  CHECK(run({"run", "--store", "S", "--", "true"}, no_bytes).status == 125);
  CHECK(run({"get", "--store", "S", "k", "-o", "/dev/null"}, no_bytes).status == 0);
  write_text(directory / "large", std::string(std::size_t{8} << 20, 'x'));
  check_error(run({"put", "--store", "S", "k", "large"}, {RLIMIT_FSIZE, rlim_t{1} << 20}), 3,
              "ulimit -f");
  check_intact(no_limit);
}

TEST_CASE_FIXTURE(limited_folder, "a command that run starts has the default of every signal") {
  const auto ran =
      run({"run", "--store", "S", "--", "grep", "SigIgn", "/proc/self/status"}, no_limit);
  CHECK(ran.out == "SigIgn:\t0000000000000000\n");
}

} // namespace limits_test
