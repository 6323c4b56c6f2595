#include "actors/tuning_result.hpp"

#include "messages/digest.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::actors {
namespace {

constexpr std::size_t max_reason_bytes = 300;

value encode_rejection(const rejection& r) {
  return value::map{{"config", r.config}, {"config_text", r.config_text}, {"reason", r.reason}};
}

template <class T>
bool take(const value& from, std::string_view name, T& into) {
  const auto* member = from.find(name);
  const auto* typed = member ? member->as<T>() : nullptr;
  if (typed) into = *typed;
  return typed;
}

bool take_rejections(const value& from, std::vector<rejection>& into) {
  value::array items;
  if (!take(from, "rejected", items)) return false;
  return std::all_of(items.begin(), items.end(), [&](const value& item) {
    rejection r;
    const bool whole = take(item, "config", r.config) && take(item, "config_text", r.config_text) &&
                       take(item, "reason", r.reason);
    into.push_back(std::move(r));
    return whole;
  });
}

// The first line of the compiler's output that names an error, or else the first line with text.
std::string telling_line(const std::string& output) {
  std::string first;
  for (std::size_t begin = 0; begin < output.size();) {
    const auto end = std::min(output.find('\n', begin), output.size());
    const auto line = output.substr(begin, end - begin);
    if (line.find("error") != std::string::npos) return line.substr(0, max_reason_bytes);
    if (first.empty()) first = line;
    begin = end + 1;
  }
  return first.substr(0, max_reason_bytes);
}

std::string how_it_ended(const process_result& run) {
  if (run.cancelled) return "the compile was cancelled";
  if (run.timed_out)
    return "the compiler was still running after " + std::to_string(run.wall_ns / 1'000'000) +
           " ms and was killed";
  if (run.signal != 0)
    return "the compiler was killed by signal " + std::to_string(run.signal) + " (" +
           strsignal(run.signal) + ")";
  return "does not compile (status " + std::to_string(run.exit_status) + ")";
}

} // namespace

value::map encode_entry(const entry_metadata& entry) {
  value::array rejected;
  for (const auto& r : entry.rejected)
    rejected.push_back(encode_rejection(r));
  return {
      {"config", entry.config},
      {"config_text", entry.config_text},
      {"kernel_time_ns", entry.time_ns},
      {"rejected", std::move(rejected)},
      {"slowest_kernel_time_ns", entry.slowest_time_ns},
      {"time_taken_ns", entry.time_taken_ns},
  };
}

expected<entry_metadata> decode_entry(const artifact& stored) {
  auto members = stored.metadata();
  if (!members) return fail(members.error());
  const value all{std::move(*members)};
  entry_metadata entry;
  const bool whole =
      take(all, "config", entry.config) && take(all, "config_text", entry.config_text) &&
      take(all, "kernel_time_ns", entry.time_ns) &&
      take(all, "slowest_kernel_time_ns", entry.slowest_time_ns) &&
      take(all, "time_taken_ns", entry.time_taken_ns) && take_rejections(all, entry.rejected);
  if (!whole) return fail(errc::malformed, "these metadata are not of a tuned entry");
  return entry;
}

std::string configs_hash_of(const tune_request& request) {
  value::array configs;
  for (const auto& candidate : request.candidates)
    configs.push_back(candidate.config);
  return sha256(encode(value{std::move(configs)})).hex();
}

autotune_choices choices_of(const tune_request& request) {
  autotune_choices choices;
  for (const auto& candidate : request.candidates)
    choices.configs.push_back({.arguments = candidate.config});
  choices.configs_hash = configs_hash_of(request);
  choices.coordinate_descent = request.mode == tune_mode::descent;
  return choices;
}

std::vector<std::string> observed_by(const tune_request& request) {
  std::vector<std::string> all;
  for (const auto& candidate : request.candidates)
    all.push_back(candidate.observed);
  return all;
}

std::vector<std::string> choice_hashes_of(const tune_request& request,
                                          const std::vector<std::string>& observed) {
  std::vector<std::string> hashes;
  for (std::size_t i = 0; i < request.candidates.size(); ++i) {
    const auto& candidate = request.candidates[i];
    std::string text(candidate.action_key.bytes);
    if (discovers(candidate.action)) text.append(observed[i]).append(" watched");
    hashes.push_back(sha256(text).hex());
  }
  return hashes;
}

std::string compile_reason(const process_result& run) {
  const auto line = telling_line(run.output);
  return line.empty() ? how_it_ended(run) : how_it_ended(run) + ": " + line;
}

std::string failure_reason(const error& why) {
  return why.code() == errc::compile_failed ? "does not compile: " + telling_line(why.text())
                                            : telling_line(why.text());
}

error compile_error(const std::string& label, const process_result& run) {
  return {errc::compile_failed, label + ": " + how_it_ended(run) + '\n' + run.output};
}

} // namespace hearth::actors
