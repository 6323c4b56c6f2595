// A process runner for tests: starts programs, keeps what they print and counts them.
#pragma once

#include "actors/ports/programs.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace hearth::test {

/// Runs each program to its end; deadlines and stop tokens are not looked at. Any thread.
class simple_runner : public actors::process_runner {
public:
  expected<process_result> run(const process_request& request, std::stop_token stop) override;

  /// How many programs it was asked to run.
  int count() const;
  /// The argument lists of all of them, in the order in which they were started.
  std::vector<std::vector<std::string>> commands() const;

private:
  mutable std::mutex guard_;
  std::vector<std::vector<std::string>> commands_;
};

} // namespace hearth::test
