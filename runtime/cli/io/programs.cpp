#include "runtime/cli/io/programs.hpp"

#include "runtime/cli/io/last_resort.hpp"
#include "runtime/fingerprints/files/file_source.hpp"
#include "runtime/os/standard_streams.hpp"
#include "runtime/process/worker_path.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

std::int64_t begin_ns = 0;

// Where `name` may be: this program is in libexec/hearth itself, or a copy of it in bin.
std::vector<fs::path> places_of(const std::string& name) {
  std::error_code ignored;
  const auto folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return {folder / name, folder.parent_path().parent_path() / "bin" / name,
          folder.parent_path() / "libexec/hearth" / name};
}

// The place where it is; the first one when it is nowhere.
std::string place_of(const std::vector<fs::path>& places) {
  std::error_code ignored;
  const auto found = std::find_if(places.begin(), places.end(), [&](const fs::path& place) {
    return fs::exists(place, ignored);
  });
  return (found == places.end() ? places.front() : *found).string();
}

error no_program(const std::string& name, const std::vector<fs::path>& places,
                 std::string_view target) {
  std::string tried;
  for (const auto& place : places)
    tried += (tried.empty() ? "" : ", ") + place.string();
  return {errc::not_found, "no " + name + " at " + tried + ": build the target " +
                               std::string(target) + ", or install Hearth anew"};
}

// Signals of failed writes: a closed pipe, a file past its size limit. Ignored, the write returns
// an error instead. Started programs get the default back: from become_program, or as every other
// signal from the supervisor.
void set_write_signals(void (*action)(int)) {
  std::signal(SIGPIPE, action);
  std::signal(SIGXFSZ, action);
}

} // namespace

int run_program(int (*run)(int count, char** arguments), int count, char** arguments) {
  begin_ns = fingerprints::system_files().clock_ns();
  os::open_missing_standard_streams();
  set_write_signals(SIG_IGN);
  install_last_resort();
  try {
    return run(count, arguments);
  } catch (const std::system_error& e) {
    report({errc::io, e.what()});
  } catch (const std::exception& e) {
    report({errc::internal, std::string("unexpected: ") + e.what()});
  }
  // Threads of an actor system that could not be built may still be there: nothing is destroyed.
  std::fflush(nullptr);
  ::_exit(failure_status());
}

std::int64_t program_begin_ns() { return begin_ns; }

status become_program(const std::string& name, std::vector<std::string> arguments,
                      std::string_view target) {
  const auto places = places_of(name);
  auto path = place_of(places);
  std::vector<char*> argv{path.data()};
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  set_write_signals(SIG_DFL); // exec keeps the SIG_IGN of run_program
  ::execv(path.c_str(), argv.data());
  const int problem = errno;
  set_write_signals(SIG_IGN);
  if (problem != ENOENT) return report(error_of_errno(problem, "run " + path));
  report(no_program(name, places, target));
  return trouble;
}

std::optional<error> missing_worker(const config& settings) {
  const auto found = process::find_worker(settings.worker.string());
  if (found) return std::nullopt;
  return error{errc::io, "programs cannot be run: " + found.error().text()};
}

} // namespace hearth::cli
