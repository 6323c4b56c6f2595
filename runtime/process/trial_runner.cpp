#include "runtime/process/trial_runner.hpp"

#include "runtime/os/signal_name.hpp"
#include "runtime/process/last_line.hpp"
#include "runtime/process/worker/job.hpp"
#include "runtime/process/worker/trial_codec.hpp"

#include <filesystem>
#include <utility>

namespace hearth::process {
namespace {

using worker::trial_phase;

constexpr std::size_t output_limit = 1 << 14;

// The code that ran in that phase: "matmul", "loading matmul.so".
std::string place(trial_phase phase, const trial_request& request) {
  switch (phase) {
  case trial_phase::loading: return "loading " + request.library;
  case trial_phase::reference: return request.reference;
  case trial_phase::entry:
  case trial_phase::timing: return request.entry;
  case trial_phase::preparing: break;
  }
  return "preparing the buffers";
}

trial_result crash(const process_result& ended, const std::string& where) {
  auto reason = ended.signal != 0 ? os::signal_name(ended.signal) + " in " + where
                                  : "exit status " + std::to_string(ended.exit_status) +
                                        " before an answer, in " + where;
  if (const auto said = last_line(ended.output); !said.empty()) reason += ": " + said;
  return {trial_status::crashed, std::move(reason)};
}

trial_result result_of(const process_result& ended, const trial_request& request,
                       std::chrono::milliseconds deadline) {
  if (ended.cancelled) return {trial_status::not_run, "cancelled"};
  auto report = worker::decode_trial_report(ended.report);
  const auto where = place(report.phase, request);
  if (ended.timed_out)
    return {trial_status::hung, where + " still running after " + text_of(deadline) + ", killed"};
  if (!ended.succeeded() || !report.answer) return crash(ended, where);
  return std::move(*report.answer);
}

} // namespace

std::string text_of(std::chrono::milliseconds duration) {
  const auto ms = duration.count();
  if (ms < 1000) return std::to_string(ms) + " ms";
  const auto tenths = ms % 1000 / 100;
  return std::to_string(ms / 1000) + (tenths != 0 ? "." + std::to_string(tenths) : "") + " s";
}

subprocess_trial_runner::subprocess_trial_runner(actors::process_runner& runner, std::string worker,
                                                 std::vector<std::string> environment)
    : runner_(runner)
    , worker_(std::move(worker))
    , environment_(std::move(environment)) {}

trial_result subprocess_trial_runner::run(const trial_request& request,
                                          std::chrono::milliseconds deadline,
                                          std::stop_token stop) {
  // Made absolute: the loader searches a bare name elsewhere, and a relative one in the process's
  // folder.
  auto located = request;
  std::error_code ignored;
  located.library = std::filesystem::absolute(request.library, ignored).string();
  const auto ended = runner_.run({.argv = {worker_, "trial", std::string(worker::protocol_version)},
                                  .environment = environment_,
                                  .directory = {},
                                  .input = worker::encode_trial_request(located),
                                  .deadline = deadline,
                                  .output_limit = output_limit},
                                 std::move(stop));
  if (!ended) return {trial_status::not_run, ended.error().text()};
  return result_of(*ended, request, deadline);
}

} // namespace hearth::process
