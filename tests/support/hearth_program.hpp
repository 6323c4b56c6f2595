// Runs the program `hearth` as its users do, in a process of its own, for integration tests.
#pragma once

#include "tests/support/files.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace hearth::test {

struct program_result {
  int status = 0; ///< exit status; minus the signal that ended it
  std::string out;
  std::string err;

  /// stdout as JSON; the test fails when it is none.
  nlohmann::json json() const;
};

/// A run of hearth that was started: killed when it goes, if it still runs.
class program_run {
public:
  /// Starts `build/.../hearth arguments...`, output into files in `scratch`, in `directory`; empty:
  /// in that of the test. `in` is its standard input.
  program_run(std::vector<std::string> arguments, const std::filesystem::path& scratch,
              const std::filesystem::path& directory = {},
              const std::filesystem::path& in = "/dev/null");
  program_run(program_run&& other) noexcept;
  program_run(const program_run&) = delete;
  ~program_run();

  void kill();
  void signal(int number) const;
  program_result wait();

private:
  pid_t pid_;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// Starts and waits.
program_result run_hearth(std::vector<std::string> arguments, const std::filesystem::path& scratch);

/// The non-empty lines of a text.
std::vector<std::string> lines_of(const std::string& text);
/// It ended with `status` and said nothing but one line, with `word` in it, on stderr.
void check_error(const program_result& result, int status, const std::string& word);

} // namespace hearth::test
