// The program `hearth`: answers what the mapped store knows, and becomes `hearth-runtime` for all
// else. It is linked statically and starts no thread, so a hit costs hardly more than starting it.
#include "runtime/front/hits.hpp"
#include "runtime/os/standard_streams.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

constexpr int trouble = 3;
constexpr int run_failed = 125;

// The folder of this program.
std::string own_folder() {
  char path[PATH_MAX];
  const auto bytes = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string all(path, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return all.substr(0, all.rfind('/'));
}

// Becomes the program with the runtime, beside this one or in ../libexec/hearth. Returns when there
// is none.
int become_runtime(int count, char** arguments) {
  const auto folder = own_folder();
  const auto beside = folder + "/hearth-runtime";
  const auto installed = folder + "/../libexec/hearth/hearth-runtime";
  ::execv(beside.c_str(), arguments);
  ::execv(installed.c_str(), arguments);
  const auto text = "hearth: cannot run " + beside + ": " + std::strerror(errno) +
                    "; build the target hearth-runtime, or install Hearth anew\n";
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  const bool is_run = std::any_of(arguments, arguments + count,
                                  [](std::string_view word) { return word == "run"; });
  return is_run ? run_failed : trouble;
}

// Ignored while this program writes, so that a closed pipe is an error.
constexpr int write_signals[] = {SIGPIPE, SIGXFSZ};

} // namespace

int main(int count, char** arguments) {
  hearth::os::open_missing_standard_streams();
  void (*before[2])(int) = {};
  for (int i = 0; i < 2; ++i)
    before[i] = std::signal(write_signals[i], SIG_IGN);
  try {
    if (const auto status = hearth::front::answer({arguments + 1, arguments + count}))
      return *status;
  } catch (const std::exception&) { // no memory: the other program tells
  }
  for (int i = 0; i < 2; ++i)
    std::signal(write_signals[i], before[i]);
  return become_runtime(count, arguments);
}
