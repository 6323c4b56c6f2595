// The compact form of a guard: instructions for a stack of integers. Only the compiler
// (compiler.cpp) and the evaluator (messages/guard.cpp) use it.
#pragma once

#include "messages/guard.hpp"

namespace hearth {

/// The maximum number of values on a program's stack.
inline constexpr std::size_t max_guard_stack = 256;

enum class guard_op : std::uint8_t {
  push, ///< pushes the operand
  // Two values become one: the top of the stack is the left side, the operand the right side.
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
  jump_if_false, ///< jumps and keeps the top, or drops it
  jump_if_true,
  overflow, ///< fails: the program reached a number that does not fit
};

/// The source of an instruction's operand.
enum class guard_operand : std::uint8_t {
  stack,    ///< the operand is popped
  constant, ///< the operand is `value`
  name,     ///< the operand is the value of names[value]
};

struct guard_instruction {
  std::int64_t value = 0;
  std::uint32_t target = 0; ///< of a jump: the index of an instruction
  guard_op op = guard_op::push;
  guard_operand operand = guard_operand::stack;
  /// For a comparison in a chain: if it holds, its right side stays for the next one; otherwise 0
  /// stays and the jump is taken.
  bool chained = false;
};

/// The places of an instruction, in bytes from the start of the text.
struct guard_place {
  std::uint32_t op;      ///< the operator or function, or the value that is pushed
  std::uint32_t operand; ///< the operand that is not on the stack
};

struct guard_expression::program {
  std::string text;
  std::vector<std::string> names;
  std::vector<std::uint32_t> name_offsets; ///< offset of each name's first occurrence
  std::vector<guard_instruction> code;
  std::vector<guard_place> places; ///< one for each instruction
};

} // namespace hearth
