#include "actors/compile_worker.hpp"

#include <utility>

namespace hearth::actors {
namespace {

expected<action_result> run_action(const worker_ports& ports, const action_request& request) {
  auto directory = ports.scratch->make();
  if (!directory) return fail(directory.error());
  auto process = request.process;
  for (const auto& output : request.outputs)
    process.argv.at(output.argument) = (*directory)->path(output.name);
  process.environment.push_back("TMPDIR=" + (*directory)->path(""));
  auto run = ports.processes->run(process, ports.stop);
  if (!run) return fail(run.error().within(request.label));
  action_result result{std::move(*run), {}};
  if (!result.process.succeeded()) return result;
  if (request.inputs_hold && !request.inputs_hold())
    return fail(errc::busy, request.label + ": a source changed while it was compiled; run again");
  for (const auto& output : request.outputs) {
    auto bytes = (*directory)->read(output.name);
    if (!bytes)
      return fail(errc::process_failed,
                  request.label + ": " + process.argv.front() +
                      " succeeded without writing its output: " + bytes.error().text());
    result.outputs.push_back(std::move(*bytes));
  }
  return result;
}

trial_result not_run(const error& why) { return {trial_status::not_run, why.text(), 0, 0}; }

trial_result run_trial(const worker_ports& ports, trial_request request, const artifact& library,
                       std::chrono::milliseconds deadline) {
  auto directory = ports.scratch->make();
  if (!directory) return not_run(directory.error());
  request.library = (*directory)->path("kernel.so");
  if (auto written = (*directory)->write("kernel.so", library.payload()); !written)
    return not_run(written.error());
  return ports.trials->run(request, deadline, ports.stop);
}

} // namespace

compile_worker_actor::behavior_type
compile_worker(compile_worker_actor::stateful_pointer<compile_worker_state> self,
               worker_ports ports) {
  self->state.ports = std::move(ports);
  return {
      [self](verb::run, const action_request& request) -> caf::result<action_result> {
        auto result = run_action(self->state.ports, request);
        if (!result) return to_caf(result.error());
        return std::move(*result);
      },
      [self](verb::trial, const trial_request& request, const artifact& library,
             std::chrono::milliseconds deadline) {
        return run_trial(self->state.ports, request, library, deadline);
      },
  };
}

} // namespace hearth::actors
