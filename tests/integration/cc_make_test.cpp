// `hearth cc` in two builds by make at once, on one store. One of them is killed.
//
// The compiler is a program of the test's own that adds a line to a log and becomes gcc. So the log
// has each run of the compiler, also of those that were killed, and who started it.
#include "tests/support/action_bench.hpp"

#include <csignal>
#include <cstdlib>
#include <map>
#include <set>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>

extern char** environ; // NOLINT: POSIX's name

namespace cc_make_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

constexpr int source_count = 12;
constexpr int job_count = 8; // of make

/// A build by make in a process group of its own. The destructor kills the group.
class make_run {
public:
  make_run(words line, const fs::path& folder, const fs::path& messages) {
    std::vector<char*> argv;
    for (auto& word : line)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, messages.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    const int problem = ::posix_spawnp(&pid_, argv[0], &files, &how, argv.data(), environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    REQUIRE(problem == 0);
  }
  make_run(const make_run&) = delete;
  make_run& operator=(const make_run&) = delete;
  ~make_run() {
    if (pid_ < 0) return;
    kill_group();
    wait();
  }

  void kill_group() const { ::kill(-pid_, SIGKILL); }
  /// The exit status, or minus the signal that ended make.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }

private:
  pid_t pid_ = -1;
};

/// Waits for the first object in a folder. It is made before what makes the object.
class object_watch {
public:
  explicit object_watch(const fs::path& folder)
      : end_(::inotify_init1(IN_CLOEXEC)) {
    REQUIRE(end_ >= 0);
    REQUIRE(::inotify_add_watch(end_, folder.c_str(), IN_CREATE | IN_MOVED_TO) >= 0);
  }
  object_watch(const object_watch&) = delete;
  object_watch& operator=(const object_watch&) = delete;
  ~object_watch() { ::close(end_); }

  void wait() const {
    constexpr int max_looks = 1000; // each finds a new name
    for (int i = 0; i < max_looks; ++i) {
      pollfd ready{end_, POLLIN, 0};
      REQUIRE(::poll(&ready, 1, patience_ms) == 1);
      if (has_object()) return;
    }
    FAIL("no object among the new names");
  }

private:
  bool has_object() const {
    alignas(inotify_event) char bytes[4096];
    const auto size = ::read(end_, bytes, sizeof bytes);
    REQUIRE(size > 0);
    bool is_found = false;
    for (const char* at = bytes; at < bytes + size;) {
      const auto* const event = reinterpret_cast<const inotify_event*>(at);
      if (event->len != 0 && std::string_view(event->name).ends_with(".o")) is_found = true;
      at += sizeof *event + event->len;
    }
    return is_found;
  }

  int end_;
};

/// Processes that run, and have this text in their variables or their command line.
std::vector<pid_t> processes_with(const std::string& mark) {
  std::vector<pid_t> all;
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator("/proc", ignored)) {
    const auto pid = std::atoi(one.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid()) continue;
    const auto has = [&](const char* name) {
      return file_text(one.path() / name).find(mark) != std::string::npos;
    };
    if (has("environ") || has("cmdline")) all.push_back(pid);
  }
  return all;
}

/// Whether the process ends in time. One that is gone has ended.
bool ends(pid_t pid) {
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0) return true;
  pollfd ended{handle, POLLIN, 0};
  const bool is_over = ::poll(&ended, 1, patience_ms) == 1;
  ::close(handle);
  return is_over;
}

const std::string counting_compiler = R"(
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void count(const char* source) {
  char line[200];
  const char* side = getenv("SIDE");
  const int size = snprintf(line, sizeof line, "%s %s\n", side ? side : "none", source);
  const int file = open(LOG, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, line, (size_t)size) != size) _exit(99);
  close(file);
}
int main(int argc, char** argv) {
  int compiles = 0;
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], "-c") == 0) compiles = 1;
  for (int i = 1; compiles && i < argc; ++i)
    if (argv[i][0] == 'f' && strstr(argv[i], ".c")) count(argv[i]);
  argv[0] = GCC;
  execv(GCC, argv);
  return 127;
}
)";

struct two_checkouts : action_bench {
  two_checkouts() {
    fs::create_directory(temporary);
    for (const auto& one : {killed, surviving, plain})
      generate(one);
    make_compiler();
    for (const auto& [name, value] :
         {std::pair{"HEARTH_STORE", store}, {"TMPDIR", temporary.string()}}) {
      const auto* const before = std::getenv(name);
      variables_before[name] = before ? std::optional<std::string>(before) : std::nullopt;
      ::setenv(name, value.c_str(), 1);
    }
  }
  ~two_checkouts() {
    for (const auto& [name, value] : variables_before)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }

  // Each object takes some time, so that some are made and others are not when make is killed.
  void generate(const fs::path& where) const {
    write_text(where / "x.h", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
                              "#include <sys/stat.h>\n#include <unistd.h>\n#define X 1\n");
    for (int i = 0; i < source_count; ++i)
      write_text(where / source(i), source_text(i));
    write_text(where / "Makefile", "objects = $(patsubst %.c,%.o,$(wildcard f*.c))\n"
                                   "all: $(objects)\n\t$(END)\n"
                                   "%.o: %.c x.h\n\t$(CC) -O2 -MD -c $< -o $@\n");
  }
  static std::string source(int i) { return "f" + std::to_string(i) + ".c"; }
  static std::string source_text(int i) {
    const auto number = std::to_string(i);
    std::string text = "#include \"x.h\"\n";
    for (int k = 0; k < 8; ++k)
      text += "int f" + number + "_" + std::to_string(k) +
              "(const char* s, int n) { int sum = X; for (int i = 0; i < n; ++i) sum += s[i] * " +
              std::to_string(i + k) + " + (int)strlen(s + i); return sum; }\n";
    return text;
  }

  void make_compiler() const {
    write_text(directory / "tools" / "gcc.c", counting_compiler);
    const auto line = "cd '" + (directory / "tools").string() + "' && gcc gcc.c -o gcc -DLOG='\"" +
                      log.string() + "\"' -DGCC=\"\\\"$(command -v gcc)\\\"\"";
    REQUIRE(std::system(line.c_str()) == 0);
  }
  std::string cached_compiler() const {
    return HEARTH_FRONT " cc " + (directory / "tools" / "gcc").string();
  }

  // `last` is a command that make runs when all objects are there.
  words make(const std::string& side, const std::string& compiler,
             const std::string& last = "true") const {
    return {"env",
            "-u",
            "MAKEFLAGS",
            "-u",
            "MAKELEVEL",
            "SIDE=" + side,
            "make",
            "-s",
            "-j" + std::to_string(job_count),
            "CC=" + compiler,
            "END=" + last};
  }
  int build(const std::string& side, const std::string& compiler, const fs::path& where) const {
    return make_run(make(side, compiler), where, messages).wait();
  }

  // All files are those of the plain build, also by their names: nothing else is there.
  void check_is_built(const fs::path& where) const {
    CHECK(names_in(where) == names_in(plain));
    for (const auto& name : names_in(plain)) {
      CAPTURE(name);
      CHECK(file_text(where / name) == file_text(plain / name));
    }
  }
  static words names_in(const fs::path& where) {
    words all;
    for (const auto& one : fs::directory_iterator(where))
      all.push_back(one.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  // How often the compiler ran for each source, started by this build.
  std::map<std::string, int> runs_of(const std::string& side) const {
    std::map<std::string, int> all;
    for (const auto& one : lines_of(file_text(log)))
      if (one.starts_with(side + " ")) ++all[one.substr(side.size() + 1)];
    return all;
  }

  // What the killed build started is killed by other processes, a little later.
  void check_processes_end() const {
    constexpr int max_looks = 100; // a process may start another one between two looks
    for (int i = 0; i < max_looks; ++i) {
      const auto left = processes_with(directory.path().string());
      if (left.empty()) return;
      for (const auto pid : left) {
        CAPTURE(pid);
        CAPTURE(file_text("/proc/" + std::to_string(pid) + "/cmdline"));
        REQUIRE(ends(pid));
      }
    }
    FAIL("processes are left");
  }

  fs::path killed = directory / "killed";
  fs::path surviving = directory / "surviving";
  fs::path plain = directory / "plain";
  fs::path temporary = directory / "temporary";
  fs::path log = logs / "compiles";
  fs::path messages = logs / "make";
  std::map<std::string, std::optional<std::string>> variables_before;
};

} // namespace

TEST_CASE_FIXTURE(two_checkouts,
                  "cc: two checkouts are built at once by make -j8 on one store, one is killed") {
  REQUIRE(build("plain", "gcc", plain) == 0);
  {
    // The last command of the build that is killed never ends, so it is always killed as it runs.
    REQUIRE(::mkfifo((directory / "gate").c_str(), 0600) == 0);
    const auto last = "cat '" + (directory / "gate").string() + "'";
    const object_watch first_object(killed);
    make_run one(make("killed", cached_compiler(), last), killed, messages);
    make_run other(make("surviving", cached_compiler()), surviving, messages);
    first_object.wait();
    one.kill_group();
    CHECK(one.wait() == -SIGKILL);
    CHECK(other.wait() == 0);
  }
  check_is_built(surviving);
  CHECK(build("later", cached_compiler(), killed) == 0);
  check_is_built(killed);
  CHECK_MESSAGE(file_text(messages).empty(), file_text(messages));

  // The surviving build compiled each source at most once, and the later one none at all. A source
  // was compiled a second time only if the kill took the first run: at most one for each job.
  int lost = 0;
  for (int i = 0; i < source_count; ++i) {
    CAPTURE(i);
    const auto by_killed = runs_of("killed")[source(i)];
    const auto by_surviving = runs_of("surviving")[source(i)];
    CHECK(by_killed <= 1);
    CHECK(by_surviving <= 1);
    CHECK(by_killed + by_surviving >= 1);
    lost += by_killed + by_surviving - 1;
  }
  CHECK(lost <= job_count);
  CHECK(runs_of("later").empty());
  MESSAGE(runs_of("killed").size()
          << " compiles by the killed build, " << runs_of("surviving").size()
          << " by the surviving one, " << lost << " of them again, " << runs_of("later").size()
          << " by the later one");

  check_processes_end();
  // The next compile that runs removes the temporary folders of killed processes, and its own.
  write_text(directory / "last" / "fl.c", "int last;\n");
  const auto last =
      "cd '" + (directory / "last").string() + "' && " + cached_compiler() + " -c fl.c";
  CHECK(std::system(last.c_str()) == 0);
  CHECK(runs_of("none").size() == 1);
  check_processes_end();
  CHECK(names_in(temporary) == words{});
}

} // namespace cc_make_test
