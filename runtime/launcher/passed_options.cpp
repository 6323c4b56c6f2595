#include "runtime/launcher/passed_options.hpp"

#include "runtime/launcher/option_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hearth::launcher {
namespace {

using enum uncached;

template <std::size_t N>
bool begins_with_any(std::string_view word, const std::array<std::string_view, N>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](auto beginning) { return word.starts_with(beginning); });
}

// By the table of the compiler's own options: one that has an effect there is refused here.
uncached reason_in_table(std::string_view word) {
  const auto* const row = find_option(word);
  if (row == nullptr || row->effect == option_effect::none) return none;
  return row->effect == option_effect::refused ? row->reason : further_output;
}

// The assembler takes these with one dash or two, and abbreviated: "--M=a.d" is "--MD=a.d".
bool is_long_option_that_writes(std::string_view word) {
  constexpr std::array<std::string_view, 4> names{"MD", "dump-config", "listing-", "statistics"};
  if (!word.starts_with('-')) return false;
  const bool has_two = word.starts_with("--");
  word.remove_prefix(has_two ? 2 : 1);
  const auto name = word.substr(0, word.find('='));
  const std::size_t shortest = has_two ? 1 : 2; // "-M" is an option of one letter
  return name.size() >= shortest && std::any_of(names.begin(), names.end(), [&](auto one) {
           return one.starts_with(name) || name.starts_with(one);
         });
}

} // namespace

std::string_view take_word(std::string_view& list) noexcept {
  const auto comma = list.find(',');
  const auto word = list.substr(0, comma);
  list.remove_prefix(comma == list.npos ? list.size() : comma + 1);
  return word;
}

// They go to the frontend as they are, which has options that write files under names of its own,
// and expands `@file`: only those that are known to write nothing are taken.
uncached reason_of_preprocessor_options(std::string_view list) noexcept {
  constexpr std::array<std::string_view, 17> accepted{
      "-D",         "-U",     "-I",         "-A",        "-W",        "-w",
      "-f",         "-std=",  "-include",   "-imacros",  "-isystem",  "-iquote",
      "-idirafter", "-undef", "-trigraphs", "-pedantic", "-nostdinc",
  };
  while (!list.empty()) {
    const auto word = take_word(list);
    if (const auto why = reason_in_table(word); why != none) return why;
    const bool is_value = !word.starts_with('-') && !word.starts_with('@');
    if (!is_value && !begins_with_any(word, accepted)) return unsupported_option;
  }
  return none;
}

uncached reason_of_assembler_options(std::string_view list) noexcept {
  constexpr std::array<std::string_view, 5> writing{"-a", "-o", "-Z", "-v", "@"};
  while (!list.empty()) {
    const auto word = take_word(list);
    if (begins_with_any(word, writing) || is_long_option_that_writes(word)) return further_output;
  }
  return none;
}

uncached reason_of_llvm_option(std::string_view word) noexcept {
  if (word.starts_with("-time-passes")) return traces_time;
  constexpr std::array<std::string_view, 5> parts{"output", "dump", "dot-", "-file", "view-"};
  const bool writes = std::any_of(parts.begin(), parts.end(), [&](auto part) {
    const auto at = word.find(part);
    return at != word.npos;
  });
  return writes ? further_output : none;
}

uncached frontend_options::reason_of_next(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 4> refused{"-main-file-name", "-migrate", "-module-",
                                                    "-mt-migrate"};
  constexpr std::array<std::string_view, 22> accepted{
      "-f",         "-W",       "-D",          "-U",      "-I",       "-O",
      "-m",         "-target-", "-disable-",   "-no-",    "-std=",    "-load",
      "-plugin",    "-isystem", "-add-plugin", "-iquote", "-include", "-internal-",
      "-debugger-", "-debug-",  "-dwarf-",     "-triple",
  };
  const bool is_llvm = std::exchange(is_llvm_next_, word == "-mllvm");
  const bool is_first = !std::exchange(has_words_, true);
  if (is_llvm) return reason_of_llvm_option(word);
  if (!word.starts_with('-')) return is_first ? unsupported_option : none;
  if (begins_with_any(word, refused)) return unsupported_option;
  const auto by_table = reason_in_table(word);
  if (!begins_with_any(word, accepted)) return by_table == none ? unsupported_option : by_table;
  constexpr std::array<std::string_view, 3> plugins{"-load", "-plugin", "-add-plugin"};
  if (begins_with_any(word, plugins)) has_plugin_ = true;
  // Accepted ones that the driver's table takes for others: -dwarf-version, -mllvm.
  return word.starts_with("-d") || word.starts_with("-m") ? none : by_table;
}

} // namespace hearth::launcher
