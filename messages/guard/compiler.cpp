#include "messages/guard/compiler.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace hearth {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

// The offset of the first byte that is not UTF-8, or the size. Surrogates and overlong forms are
// accepted: the check only ensures that characters can be counted and shown.
std::size_t find_bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : lead >= 0xe0 && lead < 0xf0 ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : 4;
    if (more == 4 || text.size() - at <= more) return at;
    for (std::size_t i = 1; i <= more; ++i)
      if ((text[at + i] & 0xc0) != 0x80) return at;
    at += more + 1;
  }
  return at;
}

struct operator_row {
  std::string_view text;
  guard_op op;
};

constexpr std::array sums{operator_row{"+", guard_op::add}, operator_row{"-", guard_op::subtract}};
constexpr std::array products{operator_row{"*", guard_op::multiply},
                              operator_row{"//", guard_op::floor_divide},
                              operator_row{"%", guard_op::modulo}};
constexpr std::array comparisons{
    operator_row{"==", guard_op::equal},      operator_row{"!=", guard_op::not_equal},
    operator_row{"<=", guard_op::less_equal}, operator_row{">=", guard_op::greater_equal},
    operator_row{"<", guard_op::less},        operator_row{">", guard_op::greater}};

template <std::size_t Size>
std::optional<guard_op> find_operator(const std::array<operator_row, Size>& rows,
                                      const guards::token& token) {
  if (token.kind != guards::token_kind::symbol) return std::nullopt;
  for (const auto& row : rows)
    if (row.text == token.text) return row.op;
  return std::nullopt;
}

// Adds one level of nesting during its lifetime.
class nesting {
public:
  explicit nesting(int& depth)
      : depth_(depth) {
    ++depth_;
  }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;
  ~nesting() { --depth_; }
  bool too_deep() const { return depth_ > max_guard_depth; }

private:
  int& depth_;
};

// Text as Python shows it, except that escapes are not resolved.
std::string canonical_text(std::string_view written) {
  const auto content = written.substr(1, written.size() - 2);
  if (content.find_first_of("'\\") != std::string_view::npos) return std::string(written);
  return "'" + std::string(content) + "'";
}

} // namespace

struct guards::function {
  std::string_view name;
  guard_op op;
  std::size_t least; // number of arguments
  std::size_t max;
};

namespace {

const guards::function* find_function(std::string_view name) {
  constexpr std::size_t any = max_guard_bytes;
  static constexpr std::array<guards::function, 16> functions{{
      {"Eq", guard_op::equal, 2, 2},
      {"Ne", guard_op::not_equal, 2, 2},
      {"Lt", guard_op::less, 2, 2},
      {"Le", guard_op::less_equal, 2, 2},
      {"Gt", guard_op::greater, 2, 2},
      {"Ge", guard_op::greater_equal, 2, 2},
      {"Mod", guard_op::modulo, 2, 2},
      {"PythonMod", guard_op::modulo, 2, 2},
      {"FloorDiv", guard_op::floor_divide, 2, 2},
      {"CleanDiv", guard_op::floor_divide, 2, 2},
      {"Min", guard_op::minimum, 1, any},
      {"Max", guard_op::maximum, 1, any},
      {"Abs", guard_op::absolute, 1, 1},
      {"min", guard_op::minimum, 2, any},
      {"max", guard_op::maximum, 2, any},
      {"abs", guard_op::absolute, 1, 1},
  }};
  const auto at = std::find_if(functions.begin(), functions.end(),
                               [&](const guards::function& row) { return row.name == name; });
  return at == functions.end() ? nullptr : &*at;
}

std::string arity_text(const guards::function& what) {
  const auto least = std::to_string(what.least);
  const auto plural = what.least == 1 ? " argument" : " arguments";
  return std::string(what.name) + " takes " + least +
         (what.max > what.least ? " or more arguments" : plural);
}

} // namespace

guard_expression::compiler::compiler(std::string_view text)
    : lexer_(text) {
  program_.text = text;
  lexer_ = guards::lexer(program_.text);
}

expected<std::shared_ptr<const guard_expression::program>> guard_expression::compiler::run() {
  if (!start() || !disjunction() || !finish()) return fail(*failure_);
  return std::make_shared<const program>(std::move(program_));
}

expected<std::string> guard_expression::compiler::run_name() {
  if (!start()) return fail(*failure_);
  if (token_.kind != token_kind::word || !word() || !finish()) {
    if (!failure_) refuse_token("a name");
    return fail(*failure_);
  }
  if (program_.names.empty()) {
    refuse(0, "this is no name");
    return fail(*failure_);
  }
  return program_.names[0];
}

bool guard_expression::compiler::start() {
  if (program_.text.size() > max_guard_bytes) {
    failure_ =
        error{errc::too_large, "a guard of " + std::to_string(program_.text.size()) + " bytes; " +
                                   std::to_string(max_guard_bytes) + " are allowed"};
    return false;
  }
  const auto bad = find_bad_utf8(program_.text);
  if (bad < program_.text.size()) return refuse(bad, "this is not UTF-8");
  return advance();
}

bool guard_expression::compiler::finish() {
  if (token_.kind != token_kind::end) return refuse_token("an operator or the end");
  return true;
}

bool guard_expression::compiler::disjunction() {
  if (!conjunction()) return false;
  std::vector<std::size_t> jumps;
  while (at("or")) {
    emit_jump(guard_op::jump_if_true, token_.offset, jumps);
    if (!advance() || !conjunction()) return false;
  }
  land(jumps);
  return true;
}

bool guard_expression::compiler::conjunction() {
  if (!negation()) return false;
  std::vector<std::size_t> jumps;
  while (at("and")) {
    emit_jump(guard_op::jump_if_false, token_.offset, jumps);
    if (!advance() || !negation()) return false;
  }
  land(jumps);
  return true;
}

bool guard_expression::compiler::negation() {
  if (!at("not")) return comparison();
  const auto offset = token_.offset;
  const nesting level(depth_);
  if (level.too_deep()) return refuse_depth(offset);
  if (!advance() || !negation()) return false;
  append({.op = guard_op::invert}, offset);
  return true;
}

bool guard_expression::compiler::comparison() {
  if (!sum()) return false;
  std::vector<std::size_t> jumps;
  auto op = find_operator(comparisons, token_);
  while (op) {
    const auto offset = token_.offset;
    const auto right = here();
    if (!advance() || !sum()) return false;
    const auto next = find_operator(comparisons, token_);
    emit_binary(*op, right, offset);
    if (next) {
      program_.code.back().chained = true;
      jumps.push_back(here() - 1);
    }
    op = next;
  }
  land(jumps);
  return true;
}

bool guard_expression::compiler::sum() {
  if (!product()) return false;
  while (const auto op = find_operator(sums, token_)) {
    const auto offset = token_.offset;
    const auto right = here();
    if (!advance() || !product()) return false;
    emit_binary(*op, right, offset);
  }
  return true;
}

bool guard_expression::compiler::product() {
  if (!factor()) return false;
  while (const auto op = find_operator(products, token_)) {
    const auto offset = token_.offset;
    const auto right = here();
    if (!advance() || !factor()) return false;
    emit_binary(*op, right, offset);
  }
  return true;
}

bool guard_expression::compiler::factor() {
  const bool negative = at("-");
  if (!negative && !at("+")) return power();
  const auto offset = token_.offset;
  const nesting level(depth_);
  if (level.too_deep()) return refuse_depth(offset);
  const auto operand = here();
  if (!advance() || !factor()) return false;
  if (!negative) {
    // -+9223372036854775808 is not a single number.
    if (program_.code.back().op == guard_op::overflow) program_.code.back().value = 0;
  } else if (!fold_negative(operand)) {
    append({.op = guard_op::negate}, offset);
  }
  return true;
}

bool guard_expression::compiler::power() {
  if (!primary()) return false;
  if (!at("**")) return true;
  const auto offset = token_.offset;
  const nesting level(depth_);
  if (level.too_deep()) return refuse_depth(offset);
  const auto right = here();
  if (!advance() || !factor()) return false;
  emit_binary(guard_op::power, right, offset);
  return true;
}

bool guard_expression::compiler::primary() {
  switch (token_.kind) {
  case token_kind::number: return number();
  case token_kind::word: return word();
  default: return at("(") ? parenthesized() : refuse_token("a value");
  }
}

bool guard_expression::compiler::parenthesized() {
  const nesting level(depth_);
  if (level.too_deep()) return refuse_depth(token_.offset);
  return advance() && disjunction() && expect(")");
}

bool guard_expression::compiler::number() {
  guard_instruction instruction{.op = guard_op::push, .operand = guard_operand::constant};
  if (token_.value > largest) instruction.op = guard_op::overflow;
  // Among the numbers that do not fit, only the one that fits when negated has to be distinguished.
  instruction.value = static_cast<std::int64_t>(std::min(token_.value, largest + 2));
  return emit_value(instruction, token_.offset) && advance();
}

bool guard_expression::compiler::word() {
  const auto written = token_;
  if (written.text == "True" || written.text == "False") {
    const guard_instruction instruction{.value = written.text == "True" ? 1 : 0,
                                        .operand = guard_operand::constant};
    return emit_value(instruction, written.offset) && advance();
  }
  if (guards::is_keyword(written.text))
    return refuse(written.offset, in_quotes(written.text) + " is a word of Python's own, no value");
  if (!advance()) return false;
  if (const auto* known = find_function(written.text)) {
    if (at("(")) return call(*known, written.offset);
    return refuse(written.offset, in_quotes(written.text) + " is a function; its arguments follow");
  }
  return symbol(std::string(written.text), written.offset);
}

bool guard_expression::compiler::call(const guards::function& what, std::size_t offset) {
  const nesting level(depth_);
  if (level.too_deep()) return refuse_depth(offset);
  return advance() && arguments(what, offset) && expect(")");
}

// Each argument after the first is the right side of an operator; the arguments before it are the
// left side.
bool guard_expression::compiler::arguments(const guards::function& what, std::size_t offset) {
  std::size_t count = 0;
  while (!at(")")) {
    const auto right = here();
    if (!disjunction()) return false;
    if (++count > what.max) return refuse(offset, arity_text(what));
    if (count > 1) emit_binary(what.op, right, offset);
    if (!at(",")) break;
    if (!advance()) return false;
  }
  if (at(")") && count < what.least) return refuse(offset, arity_text(what));
  if (what.op == guard_op::absolute) append({.op = what.op}, offset);
  return true;
}

bool guard_expression::compiler::symbol(std::string name, std::size_t offset) {
  if (!trailers(name)) return false;
  const auto [at, added] = name_indices_.try_emplace(name, program_.names.size());
  if (added) {
    program_.names.push_back(std::move(name));
    program_.name_offsets.push_back(static_cast<std::uint32_t>(offset));
  }
  return emit_value(
      {.value = static_cast<std::int64_t>(at->second), .operand = guard_operand::name}, offset);
}

bool guard_expression::compiler::trailers(std::string& name) {
  while (true) {
    if (at(".")) {
      if (!advance()) return false;
      if (token_.kind != token_kind::word || guards::is_keyword(token_.text))
        return refuse_token("an attribute's name");
      name += '.';
      name += token_.text;
      if (!advance()) return false;
    } else if (at("[")) {
      if (!items("]", name)) return false;
    } else if (at("(")) {
      if (!items(")", name)) return false;
    } else {
      return true;
    }
  }
}

// Parses the content of brackets or parentheses; only parentheses may be empty.
bool guard_expression::compiler::items(std::string_view close, std::string& name) {
  const nesting level(depth_);
  if (level.too_deep()) return refuse_depth(token_.offset);
  name += token_.text;
  if (!advance()) return false;
  if (!at(")") || close != ")") {
    if (!item(name)) return false;
    while (at(",")) {
      if (!advance()) return false;
      if (at(")") && close == ")") break;
      name += ", ";
      if (!item(name)) return false;
    }
  }
  name += close;
  return expect(close);
}

bool guard_expression::compiler::item(std::string& name) {
  const auto written = token_;
  if (written.kind == token_kind::text) {
    name += canonical_text(written.text);
    return advance();
  }
  if (written.kind != token_kind::word) return integer_item(name);
  const bool constant = written.text == "None" || written.text == "True" || written.text == "False";
  if (!constant && guards::is_keyword(written.text))
    return refuse_token("a name, text or an integer");
  name += written.text;
  return advance() && (constant || trailers(name));
}

bool guard_expression::compiler::integer_item(std::string& name) {
  if (at("-")) {
    name += '-';
    if (!advance()) return false;
  }
  if (token_.kind != token_kind::number) return refuse_token("a name, text or an integer");
  if (token_.value > largest)
    return refuse(token_.offset, in_quotes(token_.text) + " is outside 64 bits");
  name += std::to_string(token_.value);
  return advance();
}

bool guard_expression::compiler::advance() {
  auto next = lexer_.next();
  if (!next) {
    failure_ = std::move(next.error());
    return false;
  }
  token_ = *next;
  return true;
}

bool guard_expression::compiler::at(std::string_view symbol_or_word) const {
  return (token_.kind == token_kind::symbol || token_.kind == token_kind::word) &&
         token_.text == symbol_or_word;
}

bool guard_expression::compiler::expect(std::string_view symbol) {
  return at(symbol) ? advance() : refuse_token("an operator or " + in_quotes(symbol));
}

bool guard_expression::compiler::refuse(std::size_t offset, std::string_view what) {
  failure_ = error{errc::malformed, guards::at_column(program_.text, offset, what)};
  return false;
}

bool guard_expression::compiler::refuse_token(std::string_view wanted) {
  const auto found = token_.kind == token_kind::end ? "the end" : in_quotes(token_.text);
  return refuse(token_.offset, "expected " + std::string(wanted) + ", found " + found);
}

bool guard_expression::compiler::refuse_depth(std::size_t offset) {
  const auto what = "nested deeper than " + std::to_string(max_guard_depth);
  failure_ = error{errc::too_large, guards::at_column(program_.text, offset, what)};
  return false;
}

void guard_expression::compiler::append(const guard_instruction& instruction, std::size_t offset) {
  const auto place = static_cast<std::uint32_t>(offset);
  program_.code.push_back(instruction);
  program_.places.push_back({place, place});
}

bool guard_expression::compiler::emit_value(const guard_instruction& instruction,
                                            std::size_t offset) {
  append(instruction, offset);
  if (++height_ <= max_guard_stack) return true;
  const auto what = "more than " + std::to_string(max_guard_stack) + " values wait at once";
  failure_ = error{errc::too_large, guards::at_column(program_.text, offset, what)};
  return false;
}

// A right side of a single push becomes the operator's operand. A jump to the start of the right
// side, taken when the left side is known, then reaches the operator, which evaluates both.
void guard_expression::compiler::emit_binary(guard_op op, std::size_t right, std::size_t offset) {
  --height_;
  if (here() != right + 1 || program_.code[right].op != guard_op::push) {
    append({.op = op}, offset);
    return;
  }
  program_.code[right].op = op;
  program_.places[right].op = static_cast<std::uint32_t>(offset);
}

// Negates a number that is the only code since `operand`. Returns false if that is not possible.
bool guard_expression::compiler::fold_negative(std::size_t operand) {
  auto& last = program_.code.back();
  if (here() != operand + 1 || last.operand != guard_operand::constant) return false;
  if (last.op == guard_op::overflow) {
    if (last.value != smallest) return false;
    last.op = guard_op::push;
    return true;
  }
  if (last.op != guard_op::push || last.value == smallest) return false;
  last.value = -last.value;
  return true;
}

// The top of the stack stays if the jump is taken; otherwise it is dropped.
void guard_expression::compiler::emit_jump(guard_op op, std::size_t offset,
                                           std::vector<std::size_t>& jumps) {
  jumps.push_back(here());
  append({.op = op}, offset);
  --height_;
}

void guard_expression::compiler::land(const std::vector<std::size_t>& jumps) {
  for (const auto jump : jumps)
    program_.code[jump].target = static_cast<std::uint32_t>(here());
}

} // namespace hearth
