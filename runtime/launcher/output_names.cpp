#include "runtime/launcher/output_names.hpp"

namespace hearth::launcher {
namespace {

std::string without_empty_steps(std::string_view path) {
  std::string kept(path.starts_with('/') ? "/" : "");
  while (!path.empty()) {
    const auto end = path.find('/');
    const auto step = path.substr(0, end);
    path.remove_prefix(end == path.npos ? path.size() : end + 1);
    if (step.empty() || step == ".") continue;
    if (!kept.empty() && kept.back() != '/') kept += '/';
    kept += step;
  }
  return kept;
}

} // namespace

std::string_view file_name_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::string_view suffix_of(std::string_view path) noexcept {
  const auto name = file_name_of(path);
  const auto dot = name.rfind('.');
  return dot == name.npos ? std::string_view() : name.substr(dot + 1);
}

std::string with_suffix(std::string_view path, std::string_view suffix) {
  const auto name = file_name_of(path);
  const auto dot = name.rfind('.');
  const auto stem = path.substr(0, path.size() - (dot == name.npos ? 0 : name.size() - dot));
  return std::string(stem).append(".").append(suffix);
}

std::string default_output(std::string_view source, std::string_view suffix) {
  return with_suffix(file_name_of(source), suffix);
}

bool is_unclear_stem(std::string_view path) noexcept { return file_name_of(path).rfind('.') == 0; }

bool are_same_path(std::string_view a, std::string_view b) {
  return without_empty_steps(a) == without_empty_steps(b);
}

} // namespace hearth::launcher
