// The texts of `hearth help`: the summary, and a page for each topic.
#pragma once

#include <span>
#include <string_view>

namespace hearth::cli {

struct help_topic {
  std::string_view name;
  std::string_view about; ///< a few words
  std::string_view text;
};

/// In the order in which the summary lists them.
std::span<const help_topic> help_topics() noexcept;

/// What `hearth help` prints above the topics: every command in a line.
std::string_view help_summary() noexcept;

} // namespace hearth::cli
