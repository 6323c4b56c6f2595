// `hearth run` in a folder of its own, with its own store, for tests that start real processes.
#pragma once

#include "tests/support/files.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace hearth::test {

using words = std::vector<std::string>;

/// How long a test waits for what it has started.
inline constexpr int patience_ms = 60'000;

struct action_bench {
  action_bench() {
    std::filesystem::create_directory(folder);
    std::filesystem::create_directory(logs);
  }

  words line(words options, const words& command) const {
    words all{"run", "--store", store};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  program_run start(const words& options, const words& command) const {
    return program_run(line(options, command), logs, folder);
  }
  program_result run(const words& options, const words& command) const {
    return start(options, command).wait();
  }
  /// A shell command that logs each run of itself, then runs `script`.
  words counted(const std::string& script) const {
    return {"sh", "-c", "echo run >> '" + (logs / "runs").string() + "'; " + script};
  }
  std::size_t runs() const { return lines_of(file_text(logs / "runs")).size(); }
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    write_text(folder / name, text);
  }
  std::string text(const std::string& name) const { return file_text(folder / name); }
  words files() const {
    words all;
    for (const auto& one : std::filesystem::directory_iterator(folder))
      all.push_back(one.path().filename().string());
    std::sort(all.begin(), all.end());
    return all;
  }

  temporary_directory directory;
  std::filesystem::path folder = directory / "work";
  std::filesystem::path logs = directory / "logs";
  std::string store = (directory / "store").string();
};

inline void check_quiet(const program_result& result, int status = 0) {
  CHECK_MESSAGE(result.status == status, result.err);
  CHECK(result.out.empty());
  CHECK_MESSAGE(result.err.empty(), result.err);
}

/// Waits until a process writes to a named pipe, so that the test goes on while a command runs.
class started_mark {
public:
  explicit started_mark(std::filesystem::path path)
      : path_(std::move(path)) {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    end_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  started_mark(const started_mark&) = delete;
  started_mark& operator=(const started_mark&) = delete;
  ~started_mark() { ::close(end_); }
  std::string command() const { return "echo x > '" + path_.string() + "'"; }
  void wait() const {
    pollfd ready{end_, POLLIN, 0};
    char bytes[8];
    REQUIRE(::poll(&ready, 1, patience_ms) == 1);
    REQUIRE(::read(end_, bytes, sizeof bytes) > 0);
  }

private:
  std::filesystem::path path_;
  int end_;
};

} // namespace hearth::test
