#include "actors/compile_worker.hpp"

#include "messages/replace_all.hpp"

#include <functional>
#include <utility>

namespace hearth::actors {
namespace {

// Requests a stop when either of two tokens does.
class either_stop {
public:
  either_stop(const std::stop_token& one, const std::stop_token& other)
      : on_one_(one, [this] { both_.request_stop(); })
      , on_other_(other, [this] { both_.request_stop(); }) {}
  std::stop_token token() const { return both_.get_token(); }

private:
  std::stop_source both_;
  std::stop_callback<std::function<void()>> on_one_;
  std::stop_callback<std::function<void()>> on_other_;
};

// The request of an action in a view, for a run of it beneath an overlay.
action_request beneath_cover(action_request request) {
  const auto shown = "root" + (request.view.folder == "/" ? "" : request.view.folder);
  const auto move = [&](std::string& name) {
    if (name.starts_with(shown)) name.replace(0, shown.size(), changes_folder);
  };
  for (auto* files : {&request.outputs, &request.byproducts})
    for (auto& file : *files)
      move(file.name);
  move(request.dependency_file);
  request.process.directory = request.view.folder;
  request.view = {};
  return request;
}

// Fills the scratch directory. Returns the process to start in it.
expected<process_request> prepare(scratch_directory& directory, const action_request& request) {
  auto process = request.process;
  if (!request.view.folder.empty()) {
    auto folder = directory.show(request.view);
    if (!folder) return fail(folder.error());
    process.directory = directory.path(*folder);
    if (request.placeholders)
      for (auto& argument : process.argv)
        argument = expand_placeholders(std::move(argument), process.directory);
  }
  for (const auto& file : request.files)
    if (auto written = directory.write(file.name, file.bytes.payload()); !written)
      return fail(written.error());
  for (const auto* files : {&request.outputs, &request.byproducts})
    for (const auto& file : *files)
      if (file.argument != action_request::no_argument)
        process.argv.at(file.argument) = directory.path(file.name);
  process.scratch = directory.path("");
  // Of several, programs take the first: the host's goes.
  std::erase_if(process.environment,
                [](const std::string& variable) { return variable.starts_with("TMPDIR="); });
  process.environment.push_back("TMPDIR=" +
                                (process.cover ? process.cover->temporary : process.scratch));
  return process;
}

expected<void> collect_outputs(const scratch_directory& directory, const action_request& request,
                               action_result& into) {
  for (const auto& output : request.outputs) {
    auto bytes = directory.read(output.name);
    if (!bytes && !output.is_required && bytes.error().code() == errc::not_found) {
      into.outputs.emplace_back();
      into.executable.push_back(false);
      continue;
    }
    if (!bytes)
      return fail(errc::process_failed,
                  request.label + ": " + request.process.argv.front() +
                      " succeeded without writing its output: " + bytes.error().text());
    into.outputs.push_back(std::move(*bytes));
    into.executable.push_back(directory.is_executable(output.name));
  }
  return {};
}

action_request::run_record record_of(const process_result& process,
                                     const scratch_directory& directory,
                                     const action_request& request) {
  action_request::run_record record{process, directory.path(""), {}, {}, {}};
  if (request.process.cover) record.changes = request.process.cover->changes;
  return record;
}

// Records the undeclared inputs that the program read. Without this record the result cannot be
// kept.
void observe(const scratch_directory& directory, const action_request& request,
             action_result& into) {
  if (!request.observe) return;
  auto record = record_of(into.process, directory, request);
  record.outputs = into.outputs;
  const bool is_watched =
      request.process.watch != watching::none && into.process.blind_spot.empty();
  if (!request.dependency_file.empty() && into.process.succeeded() && !is_watched) {
    const auto file = directory.read(request.dependency_file);
    if (!file) return static_cast<void>(into.unkept = file.error().text());
    record.dependencies = file->payload();
    replace_all(record.dependencies, directory.path("root"), "");
  }
  auto seen = request.observe(record);
  if (seen)
    into.observed = std::move(*seen);
  else
    into.unkept = seen.error().text();
}

// They are many, and nobody asks for them later.
void drop_sightings(action_result& result) { result.process.sightings.clear(); }

expected<process_result> start(const worker_ports& ports, scratch_directory& directory,
                               const action_request& request) {
  const auto process = prepare(directory, request);
  if (!process) return fail(process.error().within(request.label));
  const either_stop stop(ports.stop, request.stop);
  if (request.before_start) request.before_start();
  auto run = ports.processes->run(*process, stop.token());
  if (!run) return fail(run.error().within(request.label));
  return run;
}

// What is to be returned of a run that has ended.
expected<action_result> result_of(process_result run, const scratch_directory& directory,
                                  const action_request& request) {
  action_result result{std::move(run), {}};
  const auto& process_result = result.process;
  if (request.after_run) request.after_run(record_of(process_result, directory, request));
  const bool has_failed = !process_result.succeeded();
  if (has_failed) {
    if (process_result.exited() && request.failures != action_request::failure_keeping::nothing)
      observe(directory, request, result);
    drop_sightings(result);
    return result;
  }
  if (request.accept)
    if (auto good = request.accept(record_of(process_result, directory, request)); !good)
      return fail(good.error().within(request.label));
  if (auto all = collect_outputs(directory, request, result); !all) return fail(all.error());
  observe(directory, request, result);
  drop_sightings(result);
  return result;
}

expected<action_result> run_action(const worker_ports& ports, const action_request& request) {
  auto directory = ports.scratch->make();
  if (!directory) return fail(directory.error());
  using overlay = action_request::overlay;
  if (request.overlaid != overlay::none) {
    auto cover = (*directory)->cover(request.view);
    if (!cover) return fail(cover.error().within(request.label));
    if (*cover) {
      auto covered = beneath_cover(request);
      covered.process.cover = std::move(*cover);
      auto run = start(ports, **directory, covered);
      if (run) return result_of(std::move(*run), **directory, covered);
      // The system may have no overlay for this folder.
      const bool may_do_without = request.overlaid == overlay::if_possible;
      if (!may_do_without || run.error().code() != errc::unsupported) return fail(run.error());
    }
    if (request.overlaid == overlay::required)
      return fail(errc::unsupported, request.label + ": no overlay can lie over its folder");
  }
  auto run = start(ports, **directory, request);
  if (!run) return fail(run.error());
  return result_of(std::move(*run), **directory, request);
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
