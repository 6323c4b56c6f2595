#include "runtime/cli/commands/compile_command.hpp"

#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/cli/commands/compile_progress.hpp"
#include "runtime/cli/io/chrome_trace.hpp"
#include "runtime/cli/io/files.hpp"
#include "runtime/cli/io/json.hpp"
#include "runtime/cli/io/metrics_file.hpp"
#include "runtime/cli/io/miss_text.hpp"
#include "runtime/cli/io/programs.hpp"
#include "runtime/cli/io/remote_report.hpp"
#include "runtime/orchestrator/compile_plan.hpp"
#include "runtime/os/files/signing_key_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <sstream>

namespace hearth::cli {
namespace {

using nlohmann::json;
using orchestrator::plan_report;
using orchestrator::request_report;

// --- the table ---------------------------------------------------------------------------------

std::string gain_text(const tune_reply& result) {
  if (result.time_ns <= 0 || result.slowest_time_ns <= 0) return "";
  return fmt::format("{:.2f}x", static_cast<double>(result.slowest_time_ns) /
                                    static_cast<double>(result.time_ns));
}

constexpr std::string_view gain_legend =
    "GAIN: how much faster the chosen configuration is than the slowest correct one\n";

std::vector<std::string> row_of(const request_report& request) {
  const auto& result = request.result;
  const bool failed = result.status == tune_status::failed;
  return {printable(request.name),
          printable(sizes_text(request.sizes)),
          request.guard ? printable(request.guard_text) : "-",
          std::string(to_string(result.status)),
          failed ? "-" : printable(result.config_text),
          failed ? "-" : human_time(result.time_ns),
          gain_text(result)};
}

// Rejected candidates and problems with their reasons: one line each, once per entry.
std::vector<std::string> remarks_of(const plan_report& report) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  };
  for (const auto& request : report.requests) {
    const auto where =
        request.guard ? fmt::format("{}[{}]", request.name, request.guard_text) : request.name;
    for (const auto& r : request.result.rejected)
      add(fmt::format("{}: left out {}: {}", printable(where), printable(r.config_text),
                      printable(r.reason)));
    if (!request.result.problem.empty())
      add(fmt::format("{}: {}", printable(where), printable(request.result.problem)));
  }
  return lines;
}

// The counters of a remote tier in one line; `name`: its name and a blank, of one among several.
std::string remote_line(const remote_tier_stats& remote, const std::string& name) {
  std::uint64_t hits = 0, misses = 0, puts = 0, failures = 0, skipped = 0;
  for (const auto& one : remote.caches) {
    hits += one.hits;
    misses += one.misses;
    puts += one.puts;
    skipped += one.skipped;
    for (const auto& [reason, count] : one.failures)
      failures += count;
  }
  auto line =
      fmt::format("remote tier {}{}: {} hits, {} misses, {} written, {} not asked, "
                  "{} failures, opened {} times",
                  name, remote.state, hits, misses, puts, skipped, failures, remote.openings);
  if (!remote.problem.empty()) line += "; the last problem: " + printable(remote.problem);
  return line + "\n";
}

// The bundle that was written for --record.
struct recorded_plan {
  std::string file;
  export_report written;
  std::uint64_t left_out = 0; ///< artifacts beyond the limits of a recording
};

std::string line_of(const recorded_plan& recorded) {
  auto line = fmt::format("recorded in {}: {} artifacts, {}", printable(recorded.file),
                          recorded.written.records, human_bytes(recorded.written.payload_bytes));
  if (recorded.left_out > 0) line += fmt::format("; {} did not fit", recorded.left_out);
  return line + "\n";
}

// Why each miss missed.
std::string explanation_of(const plan_report& report) {
  std::string text;
  for (const auto& request : report.requests) {
    if (request.result.status != tune_status::compiled &&
        request.result.status != tune_status::failed)
      continue;
    const auto name =
        fmt::format("{} {}", printable(request.name), printable(sizes_text(request.sizes)));
    text += miss_text(name, request.missed);
  }
  return text;
}

std::string table_of(const plan_report& report, const std::optional<remote_tier_stats>& remote,
                     const std::optional<recorded_plan>& recorded, bool explains) {
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "SIZES", "GUARD", "FROM", "CONFIG", "TIME", "GAIN"}};
  for (const auto& request : report.requests)
    rows.push_back(row_of(request));
  std::ostringstream out;
  print_table(out, rows, {false, false, false, false, false, true, true});
  const bool has_gain = std::any_of(report.requests.begin(), report.requests.end(),
                                    [](auto& one) { return !gain_text(one.result).empty(); });
  if (has_gain) out << gain_legend;
  for (const auto& line : remarks_of(report))
    out << line << '\n';
  if (explains) out << explanation_of(report);
  out << fmt::format("{} requests: {} hits, {} compiler runs, {} trials, {} failures; {}",
                     report.requests.size(), report.hits, report.compiler_runs, report.trials,
                     report.failures, human_time(report.wall_ns));
  if (report.time_saved_ns > 0) out << fmt::format(", {} saved", human_time(report.time_saved_ns));
  out << '\n';
  if (remote && remote->each.empty()) out << remote_line(*remote, "");
  if (remote)
    for (const auto& one : remote->each)
      out << remote_line(one, printable(one.name) + " ");
  if (recorded) out << line_of(*recorded);
  return out.str();
}

// --- JSON --------------------------------------------------------------------------------------

json json_of(const request_report& request) {
  const auto& result = request.result;
  auto sizes = json::object();
  for (const auto& [name, size] : request.sizes)
    sizes[name] = size;
  auto rejected = json::array();
  for (const auto& r : result.rejected)
    rejected.push_back({{"config", display_json(value{r.config})}, {"reason", r.reason}});
  const auto or_null = [](bool present, json v) { return present ? std::move(v) : json(nullptr); };
  const bool good = result.status != tune_status::failed;
  return {
      {"name", request.name},
      {"sizes", std::move(sizes)},
      {"guard", or_null(request.guard.has_value(), request.guard.value_or(0))},
      {"status", to_string(result.status)},
      {"config", or_null(good, display_json(value{result.config}))},
      {"time_us", or_null(good, static_cast<double>(result.time_ns) / 1e3)},
      {"slowest_time_us", or_null(good, static_cast<double>(result.slowest_time_ns) / 1e3)},
      {"error", or_null(!result.problem.empty(), result.problem)},
      {"rejected", std::move(rejected)},
      {"missed", request.missed},
  };
}

json json_of(const bundle_session& begun, const bundle_end& ended) {
  return {{"hit", begun.hit},
          {"entries", ended.entries},
          {"stored", ended.stored},
          {"time_saved_ms", static_cast<double>(begun.time_saved_ns) / 1e6}};
}

json json_of(const recorded_plan& recorded) {
  return {{"file", recorded.file},
          {"records", recorded.written.records},
          {"payload_bytes", recorded.written.payload_bytes},
          {"left_out", recorded.left_out}};
}

json json_of(const plan_report& report, const std::optional<remote_tier_stats>& remote,
             const std::optional<recorded_plan>& recorded) {
  auto kernels = json::array();
  for (const auto& request : report.requests)
    kernels.push_back(json_of(request));
  return {
      {"compiler_runs", report.compiler_runs},
      {"trials", report.trials},
      {"requests", report.requests.size()},
      {"hits", report.hits},
      {"failures", report.failures},
      {"wall_ms", static_cast<double>(report.wall_ns) / 1e6},
      {"time_saved_ms", static_cast<double>(report.time_saved_ns) / 1e6},
      {"kernels", std::move(kernels)},
      {"bundle", json_of(report.bundle, report.bundled)},
      {"remote", remote ? hearth::cli::json_of(*remote) : json(nullptr)},
      {"recorded", recorded ? json_of(*recorded) : json(nullptr)},
  };
}

status show(const plan_report& report, const std::optional<remote_tier_stats>& remote,
            const std::optional<recorded_plan>& recorded, const compile_arguments& arguments) {
  if (arguments.trace)
    if (auto written = write_file(*arguments.trace, chrome_trace(report.spans)); !written)
      return hearth::cli::report(written.error());
  const auto text = arguments.json ? dump(json_of(report, remote, recorded))
                                   : table_of(report, remote, recorded, arguments.explains);
  if (report.failures != 0)
    say(fmt::format("hearth: {} of {} requests failed: the report says why\n", report.failures,
                    report.requests.size()));
  return print(text, report.failures == 0 ? yes : no);
}

// --- the recording -----------------------------------------------------------------------------

// What --record asks for: the file, and the keys that sign the bundle.
struct record_order {
  std::string file;
  storage::signing_keys keys;
};

// Empty without --record.
expected<std::optional<record_order>> record_order_of(const compile_arguments& arguments) {
  if (!arguments.record) return std::nullopt;
  if (*arguments.record == "-")
    return fail(errc::invalid_argument, "--record: the report goes to stdout; name a file");
  record_order order{*arguments.record, {}};
  if (arguments.signing_keys.empty()) return order;
  auto keys = os::read_signing_keys(arguments.signing_keys);
  if (!keys) return fail(keys.error());
  order.keys = std::move(*keys);
  return order;
}

expected<recorded_plan> write_recording(const recording_session& session,
                                        const record_order& order) {
  const auto noted = session.finish();
  if (!noted) return fail(noted.error());
  const auto written = write_bundle(*noted, order.file, order.keys);
  if (!written) return fail(written.error());
  return recorded_plan{order.file, *written, noted->left_out};
}

expected<tune_mode> mode_named(const std::string& name) {
  for (const auto mode :
       {tune_mode::full, tune_mode::descent, tune_mode::cached_only, tune_mode::off})
    if (to_string(mode) == name) return mode;
  return fail(errc::invalid_argument,
              "--tune: '" + name + "' is not full, descent, cached-only or off");
}

} // namespace

status compile(const config& settings, const compile_arguments& arguments) {
  const auto mode = mode_named(arguments.tune);
  if (!mode) return report(mode.error());
  const auto work = orchestrator::load_plan(arguments.plan);
  if (!work) return report(work.error());
  const auto order = record_order_of(arguments);
  if (!order) return report(order.error());
  compile_progress display(*work, settings.log);
  auto host = settings;
  host.trace = arguments.trace.has_value();
  host.waits = [&display](std::string_view text) { display.note(text); };
  runtime rt(host);
  orchestrator::tuning_options options{*mode, arguments.tag};
  if (*order) {
    auto session = recording_session::begin(rt);
    if (!session) return report(session.error());
    options.recording = std::move(*session);
  }
  auto result = orchestrator::compile_plan(rt, *work, options, std::ref(display));
  display.clear();
  const bool all_good = result && result->failures == 0;
  const auto missing = all_good ? std::nullopt : missing_worker(settings);
  if (missing) return report(*missing);
  if (!result) return report(result.error());
  if (auto written = write_metrics(rt, arguments.metrics); !written) return report(written.error());
  std::optional<recorded_plan> recorded;
  if (*order) {
    auto written = write_recording(*options.recording, **order);
    if (!written) return report(written.error());
    recorded = std::move(*written);
  }
  rt.shutdown(); // completes the queued remote writes, which the report counts
  return show(*result, rt.stats().remote, recorded, arguments);
}

} // namespace hearth::cli
