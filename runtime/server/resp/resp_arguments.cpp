#include "runtime/server/resp/resp_arguments.hpp"

#include "storage/resp/resp_words.hpp"

#include <algorithm>
#include <tuple>

namespace hearth::server {
namespace {

// The set in brackets at the front of a pattern: whether it has `c`, and the pattern behind it.
struct bracket_match {
  bool has = false;
  std::string_view rest;
};

bracket_match match_bracket(char c, std::string_view pattern) noexcept {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && pattern[at] == '^';
  if (negated) ++at;
  bool has = false;
  while (at < pattern.size() && pattern[at] != ']') {
    const bool is_escaped = pattern[at] == '\\' && at + 1 < pattern.size();
    if (is_escaped) ++at;
    char low = pattern[at];
    char high = low;
    // As in Redis, `]` may end a range: `[a-]` is not closed by it.
    if (!is_escaped && at + 2 < pattern.size() && pattern[at + 1] == '-') {
      high = pattern[at + 2];
      at += 2;
    }
    if (low > high) std::swap(low, high);
    has = has || (low <= c && c <= high);
    ++at;
  }
  if (at < pattern.size()) ++at;
  return {has != negated, pattern.substr(std::min(at, pattern.size()))};
}

// Whether the first character matches what the pattern begins with, which is no `*`; `pattern` is
// then what follows.
bool match_one(char c, std::string_view& pattern) noexcept {
  if (pattern.front() == '?') {
    pattern.remove_prefix(1);
    return true;
  }
  if (pattern.front() == '[') {
    const auto match = match_bracket(c, pattern);
    pattern = match.rest;
    return match.has;
  }
  if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
  const bool same = pattern.front() == c;
  pattern.remove_prefix(1);
  return same;
}

} // namespace

std::optional<std::int64_t> parse_integer(std::string_view word) noexcept {
  return storage::parse_canonical_integer(word);
}

std::pair<std::size_t, std::size_t> bytes_between(std::size_t size, std::int64_t first,
                                                  std::int64_t last) noexcept {
  const auto length = static_cast<std::int64_t>(size);
  if (first < 0 && last < 0 && first > last) return {0, 0};
  const auto from_end = [&](std::int64_t at) {
    return at < 0 ? std::max<std::int64_t>(length + at, 0) : at;
  };
  first = from_end(first);
  last = std::min(from_end(last), length - 1);
  if (length == 0 || first > last) return {0, 0};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)};
}

std::optional<expiry_ms> parse_expiry(std::string_view word, expiry_unit unit,
                                      expiry_ms now) noexcept {
  auto number = parse_integer(word);
  if (!number) return std::nullopt;
  const bool in_seconds = unit == expiry_unit::seconds || unit == expiry_unit::unix_seconds;
  if (in_seconds && __builtin_mul_overflow(*number, 1000, &*number)) return std::nullopt;
  const bool is_relative = unit == expiry_unit::seconds || unit == expiry_unit::milliseconds;
  if (is_relative && __builtin_add_overflow(*number, now, &*number)) return std::nullopt;
  return number;
}

bool matches_pattern(std::string_view text, std::string_view pattern) noexcept {
  // Where to go on when the last `*` takes one character more.
  std::optional<std::pair<std::string_view, std::string_view>> again;
  for (;;) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      again = {text, pattern};
      continue;
    }
    if (text.empty() && pattern.empty()) return true;
    if (!text.empty() && !pattern.empty() && match_one(text.front(), pattern)) {
      text.remove_prefix(1);
      continue;
    }
    if (!again || again->first.empty()) return false;
    again->first.remove_prefix(1);
    std::tie(text, pattern) = *again;
  }
}

} // namespace hearth::server
