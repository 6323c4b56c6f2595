// Guards: the condition under which a compiled graph or kernel may be used, and the size of a
// buffer, as Python text over symbols ("s0 % 8 == 0 and L['x'].size()[0] > 1", "m * 2 + 1").
//
// Plain immutable value: parsed once, copied as a pointer, evaluated from any thread.
//
// The language is Python's over integers and Booleans, and accepted text means what it means in
// Python: precedence, floor division and modulo of negatives, chained comparisons that evaluate
// each part once, `and` and `or` that stop early and return an operand. It has
//   * integers in every form of Python's, True, False, names, parentheses;
//   * + - * // % **, unary + and -, == != < <= > >=, and, or, not;
//   * Eq Ne Lt Le Gt Ge Mod PythonMod FloorDiv CleanDiv of two, Min and Max of one or more, Abs of
//     one; Mod and PythonMod are `%`, FloorDiv and CleanDiv are `//`; min, max and abs as in
//     Python.
// A name is an identifier, optionally followed by attributes, and by brackets or calls that hold
// integers, text and names: `a.b`, `L['x'].size()[0]`. It is one name, whatever its parts are;
// quotes and blanks do not distinguish names. Everything else of Python, including `/` and reals,
// is refused.
//
// Every value is an integer of 64 bits with sign. A number or intermediate result that does not fit
// is an `overflow`, even if the final result would fit (2**63 - 1); only -9223372036854775808
// counts as one number. True and False are 1 and 0. A part that is not evaluated causes no error:
// `True or 1 // 0` holds, and so does `True or nobody_knows`.
#pragma once

#include "messages/error.hpp"
#include "messages/visibility.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace HEARTH_PUBLIC hearth {

/// The maximum size of a guard's text, in bytes.
inline constexpr std::size_t max_guard_bytes = 64u << 10;
/// The maximum nesting of parentheses, calls, unary operators and right sides of `**`.
inline constexpr int max_guard_depth = 100;

/// Values of symbols by name.
using symbol_values = std::map<std::string, std::int64_t, std::less<>>;

/// A parsed guard or shape expression. Errors name a place in the text as "column 7: ..."; columns
/// count characters from 1.
class guard_expression {
public:
  /// Parses `text` (UTF-8). Errors: `malformed`; `too_large` (text longer or nested deeper than the
  /// limits).
  static expected<guard_expression> parse(std::string_view text);

  /// The text as it was parsed.
  const std::string& text() const noexcept;
  /// The names in the expression, each once, in the order of their first occurrence; canonical.
  const std::vector<std::string>& names() const noexcept;
  /// The column at which `names()[index]` first occurs.
  std::size_t column_of_name(std::size_t index) const noexcept;

  /// The values of `names()`, in order, from `symbols`; empty for a name without a value. Names in
  /// `symbols` need not be canonical.
  std::vector<std::optional<std::int64_t>> bind(const symbol_values& symbols) const;

  /// The value of the expression with `values[i]` for `names()[i]`; missing values at the end are
  /// unknown. Allocates only if it fails. Errors: `unknown_name`, `division_by_zero`, `overflow`,
  /// and `invalid_argument` for a negative exponent (in Python a real number).
  expected<std::int64_t> evaluate_value(std::span<const std::optional<std::int64_t>> values) const;
  expected<std::int64_t> evaluate_value(const symbol_values& symbols) const;

  /// Whether the value is true in Python, that is, not 0. Errors: as above.
  expected<bool> evaluate(std::span<const std::optional<std::int64_t>> values) const;
  expected<bool> evaluate(const symbol_values& symbols) const;

private:
  friend expected<std::string> canonical_symbol_name(std::string_view name);
  struct program;
  class compiler;
  explicit guard_expression(std::shared_ptr<const program> compiled);

  std::shared_ptr<const program> program_;
};

/// The canonical spelling of a name: no blanks outside text, text in single quotes if it contains
/// neither quote nor backslash. Errors: `malformed` if it is not a name, `too_large`.
expected<std::string> canonical_symbol_name(std::string_view name);

} // namespace hearth
