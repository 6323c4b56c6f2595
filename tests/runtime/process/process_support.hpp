// Shared by the tests that run programs: requests in one line, and a named pipe that tells when the
// last process of a tree has ended.
#pragma once

#include "messages/process.hpp"
#include "tests/support/temporary_directory.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth::test {

/// Long enough for any machine; only a defect reaches it.
inline constexpr int patience_ms = 60'000;

inline process_request shell(const std::string& script) {
  process_request request;
  request.argv = {"sh", "-c", script};
  request.environment = {"PATH=/usr/bin:/bin"};
  request.deadline = std::chrono::milliseconds(patience_ms);
  return request;
}

/// A named pipe. Processes open it to write, write something, and keep it open until they end.
class life_line {
public:
  life_line()
      : path_(folder_ / "line") {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    read_end_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    // Keeps a writing end open, so that a read does not see the pipe's end before a process opens
    // it.
    write_end_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(read_end_ >= 0);
    REQUIRE(write_end_ >= 0);
  }
  life_line(const life_line&) = delete;
  life_line& operator=(const life_line&) = delete;
  ~life_line() {
    ::close(read_end_);
    let_go();
  }

  const std::string& path() const { return path_; }

  /// Closes this process's writing end; called in a forked copy of this process.
  void let_go() {
    if (write_end_ >= 0) ::close(write_end_);
    write_end_ = -1;
  }

  /// Waits until `count` bytes have been written.
  bool hears(std::size_t count) {
    while (heard_.size() < count)
      if (!read_some()) return false;
    return true;
  }

  /// Waits until no process has the pipe open.
  bool goes_dead() {
    let_go();
    while (read_some()) {
    }
    return dead_;
  }

private:
  // Returns false at the end of the pipe, and when nothing happens for too long.
  bool read_some() {
    pollfd ready{read_end_, POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) != 1) return false;
    char chunk[64];
    const auto n = ::read(read_end_, chunk, sizeof chunk);
    dead_ = n == 0;
    if (n > 0) heard_.append(chunk, static_cast<std::size_t>(n));
    return n > 0;
  }

  temporary_directory folder_;
  std::string path_;
  std::string heard_;
  bool dead_ = false;
  int read_end_ = -1;
  int write_end_ = -1;
};

/// A script that starts a tree on `line` and stays: itself, a child in the background, a child in
/// its own session, and a daemon whose parents have ended. It writes four bytes.
inline std::string tree_script(const std::string& line) {
  return "exec 9>" + line +
         "; (printf a >&9; exec sleep 1000) & "
         "setsid sh -c 'printf b >&9; exec sleep 1000' & "
         "sh -c 'setsid sh -c \"(printf c >&9; exec sleep 1000) & exit\" & exit'; "
         "printf d >&9; wait; exec sleep 1000";
}

} // namespace hearth::test
