#include "runtime/fingerprints/machine/property_text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace hearth::fingerprints {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string_view trimmed_value(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\"";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string field_of(std::string_view text, std::string_view name, char separator) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto split = line.find(separator);
    if (split != std::string_view::npos && trimmed_value(line.substr(0, split)) == name)
      return std::string(trimmed_value(line.substr(split + 1)));
  }
  return {};
}

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure))
    all.push_back(at->path());
  std::sort(all.begin(), all.end());
  return all;
}

} // namespace hearth::fingerprints
