// start.*, run.hit: how long a command takes that finds what it is asked for, its process included.
// Each turn starts the program many times, one after the other.
#include "bench/frame/timing.hpp"
#include "bench/rows.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace hearth::bench {
namespace {

namespace fs = std::filesystem;

using words = std::vector<std::string>;

constexpr std::size_t starts = 50;

// The program `hearth` beside this one, or where it is installed: in the same folder.
std::string hearth_program() {
  return (fs::read_symlink("/proc/self/exe").parent_path() / "hearth").string();
}

// Runs a program without input and output, in this process's folder and environment.
void run_once(const words& line) {
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  for (const int one : {STDIN_FILENO, STDOUT_FILENO})
    ::posix_spawn_file_actions_addopen(&streams, one, "/dev/null", O_RDWR, 0);
  std::vector<char*> argv;
  for (const auto& word : line)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = -1;
  const int failure = ::posix_spawnp(&child, argv[0], &streams, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&streams);
  int ended = -1;
  while (failure == 0 && ::waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (failure != 0 || ended != 0)
    throw std::runtime_error(line.front() + " cannot be run, or failed");
}

std::function<double()> turns_of(const words& line, std::size_t times) {
  return [line, times] {
    const stopwatch watch;
    for (std::size_t i = 0; i < times; ++i)
      run_once(line);
    return watch.seconds() / static_cast<double>(times);
  };
}

// A folder that is there as long as its row runs.
struct row_folder {
  explicit row_folder(fs::path at)
      : path(std::move(at)) {
    fs::create_directories(path);
  }
  row_folder(const row_folder&) = delete;
  row_folder& operator=(const row_folder&) = delete;
  ~row_folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }

  const fs::path path;
};

void write(const fs::path& to, const std::string& text) { std::ofstream(to) << text; }

void measure_version(row_run& run) {
  const auto times = run.scaled(starts, 2);
  run.compare({{"hearth", turns_of({hearth_program(), "--version"}, times)},
               {"true", turns_of({"/bin/true"}, times)}},
              "a start that prints the version");
}

void measure_get(row_run& run) {
  const row_folder place(run.how().directory / "start");
  const auto store = (place.path / "store").string();
  const auto file = (place.path / "value").string();
  write(file, std::string(1024, 'v'));
  run_once({hearth_program(), "insert", "--store", store, "key", file});
  const auto times = run.scaled(starts, 2);
  run.compare({{"hearth", turns_of({hearth_program(), "get", "--store", store, "key"}, times)},
               {"true", turns_of({"/bin/true"}, times)}},
              "a start that prints a stored entry of 1 KiB");
}

// Both compile the same file, which includes two headers and the C library's, and find it.
void measure_run(row_run& run) {
  const row_folder place(run.how().directory / "run");
  const auto folder = place.path.string();
  write(place.path / "a.h", "#define A 1\n");
  write(place.path / "b.h", "#define B 2\n");
  write(place.path / "u.c", "#include <stdio.h>\n#include \"a.h\"\n#include \"b.h\"\n"
                            "int f(void) { return printf(\"%d\", A + B); }\n");
  const auto before = fs::current_path();
  fs::current_path(place.path);
  ::setenv("CCACHE_DIR", (folder + "/ccache").c_str(), 1);
  const words compile{"gcc", "-O2", "-c", "u.c", "-o", "u.o"};
  words ours{hearth_program(), "run", "--store", folder + "/store", "--out", "u.o", "--"};
  words theirs{"ccache"};
  ours.insert(ours.end(), compile.begin(), compile.end());
  theirs.insert(theirs.end(), compile.begin(), compile.end());
  for (int i = 0; i < 2; ++i) { // the second look finds the stamps old enough
    run_once(ours);
    run_once(theirs);
  }
  const auto times = run.scaled(starts, 2);
  run.compare({{"hearth", turns_of(ours, times)}, {"ccache", turns_of(theirs, times)}},
              "a compile that is found");
  ::unsetenv("CCACHE_DIR");
  fs::current_path(before);
}

} // namespace

void add_start_rows(registry& all) {
  all.rows.push_back(
      {"start.version", "`hearth --version`, its process included", {"true"}, measure_version});
  all.rows.push_back(
      {"start.get", "`hearth get` of a stored entry of 1 KiB", {"true"}, measure_get});
  all.rows.push_back(
      {"run.hit", "`hearth run` of a small compile that is stored", {"ccache"}, measure_run});
}

} // namespace hearth::bench
