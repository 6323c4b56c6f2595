// The word that a mistyped command, option or topic was meant to be. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// The edits that make one word from another: a character inserted, removed or replaced, or two
/// neighbours swapped (the distance of optimal string alignment).
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidate that `word` was meant to be: the only one that begins with it, or else the
/// nearest, the first among equals. Nothing when all are further away than one edit for three
/// characters.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "did you mean 'list'?", or `otherwise` when no candidate is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view otherwise);

} // namespace hearth::cli
