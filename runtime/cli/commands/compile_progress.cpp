#include "runtime/cli/commands/compile_progress.hpp"

#include "runtime/cli/io/output.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace hearth::cli {
namespace {

std::string name_of(const std::string& kernel, const symbol_sizes& sizes) {
  const auto text = sizes_text(sizes);
  return text.empty() ? kernel : kernel + " " + text;
}

std::string name_of(const orchestrator::plan& work, const orchestrator::plan_request& request) {
  const auto& kernel = work.kernels[request.kernel];
  symbol_sizes sizes;
  for (std::size_t i = 0; i < kernel.symbols.size(); ++i)
    sizes.emplace_back(kernel.symbols[i], kernel.shapes[request.shape][i]);
  return name_of(kernel.name, sizes);
}

bool was_made(tune_status status) {
  return status == tune_status::compiled || status == tune_status::waited ||
         status == tune_status::failed;
}

// "40 s", "3 min", "1.5 h"
std::string rough_time(std::chrono::nanoseconds time) {
  constexpr double in_minute = 60, in_hour = 3600;
  const auto seconds = std::chrono::duration<double>(time).count();
  if (seconds < 2 * in_minute) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 2 * in_hour) return fmt::format("{:.0f} min", seconds / in_minute);
  return fmt::format("{:.1f} h", seconds / in_hour);
}

} // namespace

std::string sizes_text(const symbol_sizes& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(size);
  return text;
}

std::optional<std::chrono::nanoseconds> time_left(const plan_position& at) {
  if (at.made == 0 || at.done >= at.all) return std::nullopt;
  return at.elapsed / static_cast<std::int64_t>(at.made) *
         static_cast<std::int64_t>(at.all - at.done);
}

std::string progress_line(const plan_position& at, std::size_t width) {
  auto line = fmt::format("{} {}/{}", progress_bar(at.done, at.all), at.done, at.all);
  if (const auto left = time_left(at)) line += ", about " + rough_time(*left) + " left";
  if (!at.now.empty()) line += ": " + printable(at.now);
  return shortened(std::move(line), width);
}

compile_progress::compile_progress(const orchestrator::plan& work, log_callback log)
    : is_shown_(shows_progress())
    , log_(std::move(log)) {
  for (const auto& one : work.requests)
    requests_.push_back({name_of(work, one)});
  at_.all = requests_.size();
  const std::scoped_lock lock(mutex_);
  show();
}

void compile_progress::operator()(std::size_t done, std::size_t all,
                                  const orchestrator::request_report& last) {
  const auto name = name_of(last.name, last.sizes);
  if (!is_shown_) {
    if (log_)
      log_(log_level::info,
           fmt::format("[{}/{}] {}: {}", done, all, name, to_string(last.result.status)));
    return;
  }
  const std::scoped_lock lock(mutex_);
  const auto at = std::find_if(requests_.begin(), requests_.end(), [&](const request& one) {
    return !one.is_done && one.name == name;
  });
  if (at != requests_.end()) at->is_done = true;
  at_.done = done;
  at_.all = all;
  at_.made += was_made(last.result.status);
  show();
}

void compile_progress::show() {
  if (!is_shown_) return;
  const auto open = std::find_if(requests_.begin(), requests_.end(),
                                 [](const request& one) { return !one.is_done; });
  at_.now = open == requests_.end() ? "" : open->name;
  at_.elapsed = std::chrono::steady_clock::now() - start_;
  say("\r\033[K" + progress_line(at_, output_width(STDERR_FILENO) - 1));
}

void compile_progress::note(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (hides_progress()) return;
  if (!is_shown_) return say(fmt::format("{}\n", text));
  say(fmt::format("\r\033[K{}\n", text));
  show();
}

void compile_progress::clear() {
  const std::scoped_lock lock(mutex_);
  if (is_shown_) say("\r\033[K");
}

} // namespace hearth::cli
