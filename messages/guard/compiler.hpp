// Turns the text of a guard into its program, by recursive descent over Python's grammar. One
// compiler compiles one text, on its caller's thread.
#pragma once

#include "messages/guard/lexer.hpp"
#include "messages/guard/program.hpp"

#include <optional>

namespace hearth::guards {
struct function;
}

namespace hearth {

class guard_expression::compiler {
public:
  explicit compiler(std::string_view text);

  /// The program of the whole text. Errors: as for `guard_expression::parse`.
  expected<std::shared_ptr<const program>> run();
  /// The text as one name, in its canonical spelling. Errors: as above.
  expected<std::string> run_name();

private:
  using token = guards::token;
  using token_kind = guards::token_kind;

  // These append the parsed code to the program. They return false after they set `failure_`.
  bool start();
  bool finish();
  bool disjunction();
  bool conjunction();
  bool negation();
  bool comparison();
  bool sum();
  bool product();
  bool factor();
  bool power();
  bool primary();
  bool parenthesized();
  bool number();
  bool word();
  bool call(const guards::function& what, std::size_t offset);
  bool arguments(const guards::function& what, std::size_t offset);
  bool symbol(std::string name, std::size_t offset);
  // These append the parsed text to `name`.
  bool trailers(std::string& name);
  bool items(std::string_view close, std::string& name);
  bool item(std::string& name);
  bool integer_item(std::string& name);

  bool advance();
  bool at(std::string_view symbol_or_word) const;
  bool expect(std::string_view symbol);
  bool refuse(std::size_t offset, std::string_view what);
  bool refuse_depth(std::size_t offset);
  bool refuse_token(std::string_view wanted);

  // `offset` is the place that an error names; `right` is the index at which the code of a right
  // side starts.
  std::size_t here() const { return program_.code.size(); }
  void append(const guard_instruction& instruction, std::size_t offset);
  bool emit_value(const guard_instruction& instruction, std::size_t offset);
  void emit_binary(guard_op op, std::size_t right, std::size_t offset);
  bool fold_negative(std::size_t operand);
  void emit_jump(guard_op op, std::size_t offset, std::vector<std::size_t>& jumps);
  void land(const std::vector<std::size_t>& jumps);

  guards::lexer lexer_;
  token token_;
  program program_;
  std::map<std::string, std::size_t, std::less<>> name_indices_;
  std::optional<error> failure_;
  int depth_ = 0;          // current nesting
  std::size_t height_ = 0; // values on the stack at the program's end
};

} // namespace hearth
