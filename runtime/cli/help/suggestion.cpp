#include "runtime/cli/help/suggestion.hpp"

#include <algorithm>
#include <utility>

namespace hearth::cli {
namespace {

constexpr std::size_t longest_word = 64; // the distance takes time by the product of both lengths

std::size_t allowed_edits(std::string_view word) {
  constexpr std::size_t characters_an_edit = 3, most = 3;
  return std::clamp(word.size() / characters_an_edit, std::size_t{1}, most);
}

std::optional<std::string> only_one_that_begins(std::string_view word,
                                                const std::vector<std::string>& candidates) {
  const auto begins = [word](const std::string& one) { return one.starts_with(word); };
  const auto first = std::find_if(candidates.begin(), candidates.end(), begins);
  if (word.size() < 2 || first == candidates.end()) return std::nullopt;
  if (std::any_of(first + 1, candidates.end(), begins)) return std::nullopt;
  return *first;
}

} // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  using row = std::vector<std::size_t>;
  row before(to.size() + 1), last(to.size() + 1), now(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] != to[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[to.size()];
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.size() > longest_word) return std::nullopt;
  if (auto one = only_one_that_begins(word, candidates)) return one;
  const std::string* best = nullptr;
  auto best_distance = allowed_edits(word) + 1;
  for (const auto& one : candidates) {
    if (one.size() > longest_word) continue;
    const auto distance = edit_distance(word, one);
    if (distance >= best_distance) continue;
    best = &one;
    best_distance = distance;
  }
  return best ? std::optional(*best) : std::nullopt;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view otherwise) {
  const auto meant = nearest(word, candidates);
  return meant ? "did you mean '" + *meant + "'?" : std::string(otherwise);
}

} // namespace hearth::cli
