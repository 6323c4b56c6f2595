#include "runtime/api/remote_urls.hpp"

#include <algorithm>

namespace hearth {

std::vector<std::string> remote_urls(std::string_view text) {
  constexpr std::string_view blanks = " \t\n";
  std::vector<std::string> all;
  for (auto begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(blanks, begin), text.size());
    all.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(blanks, end);
  }
  return all;
}

remote_config remotes_at(const std::vector<std::string>& urls, const remote_config& common) {
  auto nearest = common;
  nearest.farther.clear();
  nearest.url = urls.empty() ? std::string() : urls.front();
  auto all = nearest;
  for (std::size_t i = 1; i < urls.size(); ++i) {
    all.farther.push_back(nearest);
    all.farther.back().url = urls[i];
  }
  return all;
}

} // namespace hearth
