// Runs programs elsewhere where a host's executor takes them, and here otherwise. Any thread.
#pragma once

#include "actors/ports/programs.hpp"
#include "runtime/api/config.hpp"

#include <memory>
#include <utility>

namespace hearth::process {

class delegating_runner : public actors::process_runner {
public:
  delegating_runner(std::shared_ptr<actors::process_runner> here, program_executor elsewhere)
      : here_(std::move(here))
      , elsewhere_(std::move(elsewhere)) {}

  /// Errors: the executor's; `process_failed` when it throws; those of the runner here.
  expected<process_result> run(const process_request& request, std::stop_token stop) override;

private:
  std::shared_ptr<actors::process_runner> here_;
  program_executor elsewhere_;
};

} // namespace hearth::process
