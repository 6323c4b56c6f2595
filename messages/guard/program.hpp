// The compact form of a guard: instructions for a stack of integers. Shared by the compiler
// (compiler.cpp) and the evaluator (messages/guard.cpp), nobody else.
#pragma once

#include "messages/guard.hpp"

namespace hearth {

/// Values that a program may have on its stack at once.
inline constexpr std::size_t max_guard_stack = 256;

enum class guard_op : std::uint8_t {
  push, ///< the operand
  // Two values become one: the stack's top and, on its right, the operand.
  add,
  subtract,
  multiply,
  floor_divide,
  modulo,
  power,
  minimum,
  maximum,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  // One value becomes another.
  negate,
  absolute,
  invert,
  // Jumps.
  jump_if_false, ///< the top stays and the jump is made, or it is dropped
  jump_if_true,
  overflow, ///< a number that does not fit was reached
};

/// Where an instruction takes its operand from.
enum class guard_operand : std::uint8_t {
  stack,    ///< popped
  constant, ///< `value`
  name,     ///< the value of names[value]
};

struct guard_instruction {
  std::int64_t value = 0;
  std::uint32_t target = 0; ///< of a jump: an index of instructions
  guard_op op = guard_op::push;
  guard_operand operand = guard_operand::stack;
  /// For a comparison in a chain: when it holds its right side stays for the next one, otherwise 0
  /// does and the jump is made.
  bool chained = false;
};

/// Where an instruction stands, in bytes from the start of the text.
struct guard_place {
  std::uint32_t op;      ///< the operator or function, or the value that is pushed
  std::uint32_t operand; ///< the operand that is not on the stack
};

struct guard_expression::program {
  std::string text;
  std::vector<std::string> names;
  std::vector<std::uint32_t> name_offsets; ///< of their first places, one a name
  std::vector<guard_instruction> code;
  std::vector<guard_place> places; ///< one an instruction
};

} // namespace hearth
