#include "runtime/cli/simulation/commands.hpp"

#include "runtime/cli/io/files.hpp"
#include "runtime/cli/simulation/summary_at_signal.hpp"
#include "runtime/simulation/script/interpreter.hpp"
#include "runtime/simulation/script/parser.hpp"
#include "runtime/simulation/simulator/simulator.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <fmt/format.h>

namespace hearth::cli {
namespace {

using nlohmann::json;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [at, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || at != end) return std::nullopt;
  return number;
}

// The failure of a run, and the command that repeats it.
std::string failure_text(const script::run_result& result, const std::string& file,
                         std::uint64_t seed) {
  return result.failure +
         fmt::format("  replay: hearth script {} --seeds {}..{}\n", file, seed, seed);
}

struct script_tally {
  std::uint64_t runs = 0;
  std::uint64_t failures = 0;
  json report = json::array();
};

std::string summary_of(const script_tally& all, std::size_t scripts, bool as_json) {
  if (as_json) return all.report.dump(2) + "\n";
  return fmt::format("{} of {} runs of {} scripts passed\n", all.runs - all.failures, all.runs,
                     scripts);
}

bool run_one(const script::program& program, std::uint64_t seed, const script_arguments& arguments,
             script_tally& all, summary_at_signal& ending) {
  const auto result = script::run(program, {seed});
  const auto lock = ending.lock();
  ++all.runs;
  all.failures += !result.passed;
  if (arguments.json) {
    json line{{"file", program.file}, {"seed", seed}, {"passed", result.passed}};
    if (!result.passed) line["failure"] = result.failure;
    if (arguments.trace) line["trace"] = result.trace;
    all.report.push_back(std::move(line));
    return true;
  }
  std::string text;
  if (arguments.trace)
    for (const auto& line : result.trace)
      text += line + "\n";
  if (!result.passed) text += failure_text(result, program.file, seed);
  return write_stdout(text);
}

} // namespace

expected<seed_range> parse_seeds(std::string_view text) {
  const auto dots = text.find("..");
  const auto first = number_of(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number_of(text.substr(dots + 2));
  if (first && last && *first <= *last) return seed_range{*first, *last};
  return fail(errc::invalid_argument, "expected seeds as 1..100, got '" + std::string(text) + "'");
}

int script(const script_arguments& arguments) {
  seed_range seeds;
  if (!arguments.seeds.empty()) {
    const auto parsed = parse_seeds(arguments.seeds);
    if (!parsed) return report(parsed.error());
    seeds = *parsed;
  }
  std::vector<script::program> programs;
  for (const auto& file : arguments.files) {
    const auto text = read_input(file);
    if (!text) return report(text.error());
    auto program = script::parse(file, *text);
    if (!program) return report(program.error());
    programs.push_back(std::move(*program));
  }
  script_tally all;
  summary_at_signal ending([&] { return summary_of(all, programs.size(), arguments.json); });
  for (const auto& program : programs)
    for (auto seed = seeds.first;; ++seed) {
      if (!run_one(program, seed, arguments, all, ending)) return unwritten();
      if (seed == seeds.last) break;
    }
  return ending.finish(all.failures == 0 ? yes : no);
}

namespace {

simulation::simulation_options options_of(const simulate_arguments& arguments) {
  simulation::simulation_options options;
  options.hosts = arguments.hosts;
  options.processes = arguments.processes;
  options.duration = std::chrono::minutes(arguments.minutes);
  options.has_cluster = arguments.cluster;
  options.has_farther = arguments.remotes;
  options.keep_trace = arguments.trace;
  options.hash_trace = !arguments.no_hash;
  return options;
}

std::string violation_text(const simulation::simulation_result& result, std::uint64_t seed,
                           const simulate_arguments& arguments) {
  return fmt::format("seed {}: {}\n  replay: hearth simulate --seeds {}..{} --hosts {} "
                     "--processes {} --minutes {}{} --trace\n",
                     seed, result.violation, seed, seed, arguments.hosts, arguments.processes,
                     arguments.minutes,
                     arguments.cluster   ? " --cluster"
                     : arguments.remotes ? " --remotes"
                                         : "");
}

struct seed_tally {
  std::uint64_t seeds = 0, violations = 0, messages = 0, questions = 0, hash = 0;
  json report = json::array();
};

std::string summary_of(const seed_tally& all, const simulate_arguments& arguments) {
  if (arguments.json) return all.report.dump(2) + "\n";
  return fmt::format("{} of {} seeds violated nothing: {} questions, {} messages{}\n",
                     all.seeds - all.violations, all.seeds, all.questions, all.messages,
                     arguments.no_hash ? "" : fmt::format(", trace {:016x}", all.hash));
}

bool run_seed(std::uint64_t seed, const simulate_arguments& arguments, seed_tally& all,
              summary_at_signal& ending) {
  const auto result = simulation::simulate(seed, options_of(arguments));
  const auto lock = ending.lock();
  ++all.seeds;
  all.messages += result.messages;
  all.questions += result.questions;
  all.hash ^= result.trace_hash + seed;
  all.violations += !result.violation.empty();
  if (arguments.json) {
    json one{{"seed", seed},
             {"violation", result.violation},
             {"messages", result.messages},
             {"trace", result.trace}};
    if (!arguments.no_hash) one["trace_hash"] = fmt::format("{:016x}", result.trace_hash);
    all.report.push_back(std::move(one));
    return true;
  }
  std::string text;
  for (const auto& line : result.trace)
    text += line + "\n";
  if (!result.violation.empty()) text += violation_text(result, seed, arguments);
  return write_stdout(text);
}

} // namespace

int simulate(const simulate_arguments& arguments) {
  const auto seeds = parse_seeds(arguments.seeds);
  if (!seeds) return report(seeds.error());
  seed_tally all;
  summary_at_signal ending([&] { return summary_of(all, arguments); });
  for (auto seed = seeds->first;; ++seed) {
    if (!run_seed(seed, arguments, all, ending)) return unwritten();
    if (seed == seeds->last) break;
  }
  return ending.finish(all.violations == 0 ? yes : no);
}

} // namespace hearth::cli
