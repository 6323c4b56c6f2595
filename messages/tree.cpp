#include "messages/tree.hpp"

#include <utility>

namespace hearth {
namespace {

expected<std::string> unescape(std::string_view part, std::string_view pointer) {
  std::string name;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '~') {
      name += part[i];
      continue;
    }
    const auto code = i + 1 < part.size() ? part[++i] : '?';
    if (code != '0' && code != '1')
      return fail(errc::malformed,
                  "'" + std::string(pointer) + "': a ~ has to be followed by 0 or 1");
    name += code == '0' ? '~' : '/';
  }
  return name;
}

} // namespace

std::string to_pointer(std::span<const std::string> path) {
  std::string pointer;
  for (const auto& name : path) {
    pointer += '/';
    for (const char c : name)
      pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer;
}

expected<tree_path> parse_pointer(std::string_view pointer) {
  tree_path path;
  if (!pointer.empty() && pointer.front() != '/')
    return fail(errc::malformed,
                "'" + std::string(pointer) + "' is no path: write /a/b, or nothing for all");
  for (auto rest = pointer; !rest.empty();) {
    rest.remove_prefix(1);
    const auto part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(part.size());
    auto name = unescape(part, pointer);
    if (!name) return fail(name.error());
    path.push_back(std::move(*name));
    if (path.size() > max_path_parts)
      return fail(errc::too_large,
                  "a path of more than " + std::to_string(max_path_parts) + " parts");
  }
  return path;
}

const value* find_at(const value& tree, std::span<const std::string> path) {
  const auto* at = &tree;
  for (const auto& name : path) {
    at = at->find(name);
    if (!at) return nullptr;
  }
  return at;
}

expected<void> set_at(value& tree, std::span<const std::string> path, value v) {
  const auto is_map = [](const value& one) { return one.as<value::map>() != nullptr; };
  if (path.empty() && !is_map(v))
    return fail(errc::invalid_argument, "the root of a tree has to be a map");
  for (std::size_t depth = 0; depth < path.size(); ++depth) {
    const auto* above = find_at(tree, path.first(depth));
    if (above && !is_map(*above))
      return fail(errc::invalid_argument,
                  "'" + to_pointer(path.first(depth)) + "' holds a value, nothing is below it");
  }
  auto* at = &tree;
  for (const auto& name : path)
    at = &(*at->as<value::map>()).try_emplace(name, value::map{}).first->second;
  *at = std::move(v);
  return {};
}

} // namespace hearth
