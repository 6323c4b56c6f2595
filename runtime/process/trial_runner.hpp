// Tries compiled kernels, each in a process of its own (`hearth-worker trial`), so that a kernel
// that crashes or hangs does not affect this process.
//
// Owned by the runtime; any number of threads may call it at once, as its process runner.
#pragma once

#include "actors/ports/programs.hpp"

#include <string>
#include <vector>

namespace hearth::process {

class subprocess_trial_runner : public actors::trial_runner {
public:
  /// `runner` outlives this. `worker` is the path of hearth-worker, see `find_worker`. A kernel
  /// gets `environment`, "NAME=value" texts.
  subprocess_trial_runner(actors::process_runner& runner, std::string worker,
                          std::vector<std::string> environment = {});

  /// The reason of a result that is not good is one line: how the process ended and in which code
  /// ("SIGSEGV in matmul"), the first difference ("output 2 [17] is 1.5, expected 1.25 (tolerance
  /// 0.0001)"), or the reason why the kernel could not be tried. A trial that was stopped, or whose
  /// process could not be started, is `not_run`.
  trial_result run(const trial_request& request, std::chrono::milliseconds deadline,
                   std::stop_token stop) override;

private:
  actors::process_runner& runner_;
  std::string worker_;
  std::vector<std::string> environment_;
};

/// A duration as text: "3 s", "1.5 s", "200 ms".
std::string text_of(std::chrono::milliseconds duration);

} // namespace hearth::process
