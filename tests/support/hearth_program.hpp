// Runs the program `hearth` as its users do, in its own process, for integration tests.
#pragma once

#include "tests/support/files.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace hearth::test {

struct program_result {
  int status = 0; ///< exit status, or minus the signal that ended it
  std::string out;
  std::string err;

  /// Parses stdout as JSON; the test fails when it is none.
  nlohmann::json json() const;
};

/// A started run of hearth. The destructor kills it if it still runs.
class program_run {
public:
  /// Starts `build/.../hearth arguments...` in `directory` (empty: the test's own), with its output
  /// in files in `scratch`. `in` is its standard input.
  program_run(std::vector<std::string> arguments, const std::filesystem::path& scratch,
              const std::filesystem::path& directory = {},
              const std::filesystem::path& in = "/dev/null");
  program_run(program_run&& other) noexcept;
  program_run(const program_run&) = delete;
  ~program_run();

  pid_t pid() const { return pid_; }
  void kill();
  void signal(int number) const;
  program_result wait();
  /// Waits at most so long, then kills it: a hang is the status -SIGKILL.
  program_result wait_at_most(std::chrono::seconds time);

private:
  pid_t pid_;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// Starts the program and waits for its end.
program_result run_hearth(std::vector<std::string> arguments, const std::filesystem::path& scratch);

/// The non-empty lines of a text.
std::vector<std::string> lines_of(const std::string& text);
/// Checks that it ended with `status` and wrote only one line, which contains `word`, to stderr.
void check_error(const program_result& result, int status, const std::string& word);

} // namespace hearth::test
