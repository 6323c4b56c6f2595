#include "runtime/front/programs.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace hearth::front {
namespace {

constexpr int write_signals[] = {SIGPIPE, SIGXFSZ};
using handler = void (*)(int);
handler before[2] = {SIG_DFL, SIG_DFL};
sigset_t mask_before; // empty, unless it is taken

} // namespace

void ignore_write_signals() {
  for (int i = 0; i < 2; ++i)
    before[i] = std::signal(write_signals[i], SIG_IGN);
  ::sigprocmask(SIG_SETMASK, nullptr, &mask_before);
}

int become(const std::string& program, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  for (int i = 0; i < 2; ++i)
    std::signal(write_signals[i], before[i]);
  ::sigprocmask(SIG_SETMASK, &mask_before, nullptr);
  ::execvp(program.c_str(), argv.data());
  return errno;
}

bool is_disabled() {
  const char* const off = std::getenv(off_variable);
  return off && *off;
}

int become_compiler(std::vector<std::string> words) {
  constexpr int not_executable = 126, not_found = 127;
  const auto program = words.front();
  const int failure = become(program, std::move(words));
  const auto text = "hearth: cannot run " + program + ": " + std::strerror(failure) +
                    "; name a compiler, as in 'hearth cc gcc -c a.c'\n";
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  return failure == ENOENT ? not_found : not_executable;
}

} // namespace hearth::front
