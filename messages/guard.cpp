#include "messages/guard.hpp"

#include "messages/guard/compiler.hpp"

#include <algorithm>
#include <array>

namespace hearth {
namespace {

using values_view = std::span<const std::optional<std::int64_t>>;

enum class fault : std::uint8_t { none, unknown_name, zero_divisor, real_number, overflow };

// 0 ** negative divides by zero, any other negative exponent gives a real number. An exponent above
// 63 overflows unless the base is -1, 0 or 1, so the loop runs at most 63 times.
fault raise(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
  if (exponent < 0) return base == 0 ? fault::zero_divisor : fault::real_number;
  if (base == 0 || base == 1 || base == -1) {
    result = exponent == 0 ? 1 : exponent % 2 == 0 ? base * base : base;
    return fault::none;
  }
  if (exponent > 63) return fault::overflow;
  result = 1;
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result)) return fault::overflow;
  return fault::none;
}

// Rounds down, as Python does: C++ rounds to 0.
fault divide(std::int64_t left, std::int64_t right, std::int64_t& result) {
  if (right == 0) return fault::zero_divisor;
  if (right == -1) return __builtin_sub_overflow(0, left, &result) ? fault::overflow : fault::none;
  const auto rest = left % right;
  result = left / right - (rest != 0 && (rest < 0) != (right < 0) ? 1 : 0);
  return fault::none;
}

// The remainder has the divisor's sign.
fault modulo(std::int64_t left, std::int64_t right, std::int64_t& result) {
  if (right == 0) return fault::zero_divisor;
  const auto rest = right == -1 ? 0 : left % right;
  result = rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
  return fault::none;
}

fault overflow_if(bool overflowed) { return overflowed ? fault::overflow : fault::none; }

fault apply(guard_op op, std::int64_t left, std::int64_t right, std::int64_t& result) {
  switch (op) {
  case guard_op::add: return overflow_if(__builtin_add_overflow(left, right, &result));
  case guard_op::subtract: return overflow_if(__builtin_sub_overflow(left, right, &result));
  case guard_op::multiply: return overflow_if(__builtin_mul_overflow(left, right, &result));
  case guard_op::floor_divide: return divide(left, right, result);
  case guard_op::modulo: return modulo(left, right, result);
  case guard_op::power: return raise(left, right, result);
  case guard_op::minimum: result = std::min(left, right); return fault::none;
  case guard_op::maximum: result = std::max(left, right); return fault::none;
  case guard_op::equal: result = left == right; return fault::none;
  case guard_op::not_equal: result = left != right; return fault::none;
  case guard_op::less: result = left < right; return fault::none;
  case guard_op::less_equal: result = left <= right; return fault::none;
  case guard_op::greater: result = left > right; return fault::none;
  default: result = left >= right; return fault::none;
  }
}

fault apply(guard_op op, std::int64_t operand, std::int64_t& result) {
  if (op == guard_op::invert) {
    result = operand == 0;
    return fault::none;
  }
  if (op == guard_op::absolute && operand >= 0) {
    result = operand;
    return fault::none;
  }
  return overflow_if(__builtin_sub_overflow(0, operand, &result));
}

// The outcome of a program's run: a value, or the fault and its instruction.
struct outcome {
  fault what = fault::none;
  std::size_t at = 0;
  std::int64_t value = 0;
};

// Loads the operand of an instruction whose operand is not on the stack. Returns false if it is a
// name without a value.
bool load(const guard_instruction& instruction, values_view values, std::int64_t& operand) {
  if (instruction.operand == guard_operand::constant) {
    operand = instruction.value;
    return true;
  }
  const auto index = static_cast<std::size_t>(instruction.value);
  if (index >= values.size() || !values[index]) return false;
  operand = *values[index];
  return true;
}

// Runs a program. The compiler guarantees that the stack never overflows and always has the values
// that an instruction takes. The top of the stack is kept in its own variable.
outcome run(std::span<const guard_instruction> code, values_view values) {
  std::array<std::int64_t, max_guard_stack + 1> stack;
  auto* below = stack.data();
  std::int64_t top = 0;
  for (std::size_t at = 0; at < code.size();) {
    const auto& step = code[at++];
    auto right = top;
    const bool own_operand = step.operand != guard_operand::stack;
    if (own_operand && !load(step, values, right)) return {fault::unknown_name, at - 1};
    auto failed = fault::none;
    switch (step.op) {
    case guard_op::push:
      *below++ = top;
      top = right;
      break;
    case guard_op::jump_if_false:
    case guard_op::jump_if_true:
      if ((top != 0) == (step.op == guard_op::jump_if_true))
        at = step.target;
      else
        top = *--below;
      break;
    case guard_op::negate:
    case guard_op::absolute:
    case guard_op::invert: failed = apply(step.op, top, top); break;
    case guard_op::overflow: failed = fault::overflow; break;
    default:
      failed = apply(step.op, own_operand ? top : *--below, right, top);
      if (!step.chained) break;
      if (top != 0)
        top = right;
      else
        at = step.target;
    }
    if (failed != fault::none) return {failed, at - 1};
  }
  return {fault::none, 0, top};
}

} // namespace

guard_expression::guard_expression(std::shared_ptr<const program> compiled)
    : program_(std::move(compiled)) {}

expected<guard_expression> guard_expression::parse(std::string_view text) {
  auto compiled = compiler(text).run();
  if (!compiled) return fail(std::move(compiled.error()));
  return guard_expression(std::move(*compiled));
}

const std::string& guard_expression::text() const noexcept { return program_->text; }

const std::vector<std::string>& guard_expression::names() const noexcept { return program_->names; }

std::size_t guard_expression::column_of_name(std::size_t index) const noexcept {
  return column_of(program_->text, program_->name_offsets[index]);
}

std::vector<std::optional<std::int64_t>>
guard_expression::bind(const symbol_values& symbols) const {
  std::vector<std::optional<std::int64_t>> values(names().size());
  for (const auto& [name, value] : symbols) {
    auto at = std::find(names().begin(), names().end(), name);
    if (at == names().end())
      if (const auto canonical = canonical_symbol_name(name))
        at = std::find(names().begin(), names().end(), *canonical);
    if (at != names().end()) values[static_cast<std::size_t>(at - names().begin())] = value;
  }
  return values;
}

expected<std::int64_t> guard_expression::evaluate_value(values_view values) const {
  const auto ended = run(program_->code, values);
  if (ended.what == fault::none) [[likely]]
    return ended.value;
  const auto place = program_->places[ended.at];
  const auto offset = ended.what == fault::unknown_name ? place.operand : place.op;
  const auto index = static_cast<std::size_t>(program_->code[ended.at].value);
  switch (ended.what) {
  case fault::unknown_name:
    return fail(errc::unknown_name,
                guards::at_column(text(), offset, "unknown name " + in_quotes(names()[index])));
  case fault::zero_divisor:
    return fail(errc::division_by_zero, guards::at_column(text(), offset, "division by zero"));
  case fault::real_number:
    return fail(errc::invalid_argument,
                guards::at_column(text(), offset, "a negative exponent gives a real number"));
  default:
    return fail(errc::overflow, guards::at_column(text(), offset, "a value outside 64 bits"));
  }
}

expected<bool>
guard_expression::evaluate(std::span<const std::optional<std::int64_t>> values) const {
  const auto value = evaluate_value(values);
  if (!value) return fail(value.error());
  return *value != 0;
}

expected<std::int64_t> guard_expression::evaluate_value(const symbol_values& symbols) const {
  return evaluate_value(bind(symbols));
}

expected<bool> guard_expression::evaluate(const symbol_values& symbols) const {
  return evaluate(bind(symbols));
}

expected<std::string> canonical_symbol_name(std::string_view name) {
  return guard_expression::compiler(name).run_name();
}

} // namespace hearth
