#include "runtime/simulation/script/interpreter.hpp"

#include "runtime/simulation/script/interpreter/interpreter_state.hpp"

namespace hearth::script {
namespace {

constexpr std::size_t max_trace_lines = 200'000;
constexpr std::size_t lines_before_failure = 60;

} // namespace

interpreter::interpreter(const program& script, const run_options& options)
    : script_(script)
    , random_(options.seed)
    , is_seeded_(options.seed != 0) {
  world_.system().set_trace([this](std::string line) {
    if (trace_.size() < max_trace_lines) trace_.push_back(std::move(line));
  });
  world_.system().choose_by(is_seeded_ ? &random_ : nullptr);
}

run_result interpreter::run() {
  run_result result;
  const statement* now = nullptr;
  try {
    for (const auto& one : script_.statements) {
      now = &one;
      carry_out(one);
    }
    expect_no_other_errors();
  } catch (const failed& why) {
    result.failure = report(*now, why);
  }
  result.passed = result.failure.empty();
  result.trace = trace_;
  result.steps = world_.system().steps();
  return result;
}

void interpreter::carry_out(const statement& one) {
  std::visit([this](const auto& what) { run(what); }, one.what);
}

std::string interpreter::report(const statement& one, const failed& why) const {
  std::string text = script_.file + ":" + std::to_string(one.line) + ": " + one.source +
                     "\n  expected: " + why.expected + "\n  got:      " + why.got +
                     "\n  messages before it:\n";
  const auto from = trace_.size() - std::min(trace_.size(), lines_before_failure);
  for (std::size_t i = from; i < trace_.size(); ++i)
    text += "    " + trace_[i] + "\n";
  return text;
}

run_result run(const program& script, const run_options& options) {
  return interpreter(script, options).run();
}

} // namespace hearth::script
