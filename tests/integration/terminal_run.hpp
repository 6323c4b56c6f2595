// Runs `hearth` at a terminal, or with a stdout that nobody reads.
#pragma once

#include "tests/support/child_process.hpp"
#include "tests/support/hearth_program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <pty.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace hearth::test {

/// In a child: becomes `hearth`.
inline int become_hearth(std::vector<std::string> arguments, const char* program = HEARTH_PROGRAM) {
  arguments.insert(arguments.begin(), "hearth");
  std::vector<char*> argv;
  for (auto& one : arguments)
    argv.push_back(one.data());
  argv.push_back(nullptr);
  ::unsetenv("COLUMNS");
  ::execv(program, argv.data());
  return 98;
}

struct terminal_result {
  int status;
  std::string out;
  std::string shown; ///< on the terminal
};

/// Runs it with stderr, and with `shows_out` stdout too, at a terminal of so many columns.
inline terminal_result run_at_terminal(const std::vector<std::string>& arguments,
                                       const std::filesystem::path& scratch, bool shows_out = false,
                                       unsigned short columns = 80) {
  int master = -1, slave = -1;
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  REQUIRE(::openpty(&master, &slave, nullptr, nullptr, &size) == 0);
  const auto out = scratch / "terminal.out";
  child_process child([&]() -> int {
    const int file = ::open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ::dup2(shows_out ? slave : file, 1);
    ::dup2(slave, 2);
    ::close(master);
    ::close(slave);
    return become_hearth(arguments);
  });
  ::close(slave);
  std::string shown;
  char text[4096];
  for (ssize_t got = 0; (got = ::read(master, text, sizeof text)) > 0;)
    shown.append(text, static_cast<std::size_t>(got));
  const int status = child.wait();
  ::close(master);
  return {status, file_text(out), shown};
}

/// Runs it with a stdout whose reader has ended already.
inline program_result run_without_reader(const std::vector<std::string>& arguments,
                                         const std::filesystem::path& scratch,
                                         const char* program = HEARTH_PROGRAM) {
  const auto err = scratch / "unread.err";
  child_process child([&]() -> int {
    int ends[2];
    if (::pipe(ends) != 0) return 97;
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    ::dup2(::open(err.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), 2);
    return become_hearth(arguments, program);
  });
  const int status = child.wait();
  return {status, "", file_text(err)};
}

} // namespace hearth::test
