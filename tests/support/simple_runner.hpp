// A process runner for tests: starts programs, keeps what they print and counts them.
#pragma once

#include "actors/ports/programs.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace hearth::test {

/// Runs each program to its end; ignores deadlines and stop tokens. Any thread.
class simple_runner : public actors::process_runner {
public:
  expected<process_result> run(const process_request& request, std::stop_token stop) override;

  /// The number of programs started.
  int count() const;
  /// The argument lists of all programs, in the order of their starts.
  std::vector<std::vector<std::string>> commands() const;

private:
  mutable std::mutex guard_;
  std::vector<std::vector<std::string>> commands_;
};

} // namespace hearth::test
