#include "runtime/fingerprints/toolchain/compiler_answers.hpp"

#include "messages/dependency_file.hpp"

#include <algorithm>
#include <optional>

namespace hearth::fingerprints {
namespace {

// The text after `prefix`, when `line` starts with it.
std::optional<std::string_view> after(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return std::nullopt;
  return line.substr(prefix.size());
}

std::string_view unquoted(std::string_view text) {
  const auto open = text.find('"');
  const auto close = text.rfind('"');
  return close == open ? text : text.substr(open + 1, close - open - 1);
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  for (const auto& one : more)
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

// The program of a command line that `-v` shows, if that is a front end: " /x/cc1plus -E ..." of
// GCC, " "/x/clang" -cc1 ..." of Clang.
std::string front_end_of(std::string_view line) {
  if (line.starts_with(" \"")) {
    const auto close = line.find('"', 2);
    const bool clang = close != std::string_view::npos && line.substr(close).starts_with("\" -cc1");
    return clang ? std::string(line.substr(2, close - 2)) : std::string();
  }
  for (const std::string_view name : {"/cc1plus ", "/cc1 "})
    if (const auto at = line.find(name); at != std::string_view::npos && line.starts_with(" /"))
      return std::string(line.substr(1, at + name.size() - 2));
  return {};
}

// The folder that Clang's command line names: ` "/x/clang" -cc1 ... -resource-dir /x/14.0.6 ...`. A
// name with characters that a shell would read is in quotes, with a backslash before `"`, `\` and
// `$`.
std::string resource_folder_of(std::string_view line) {
  constexpr std::string_view option = " -resource-dir ";
  const auto at = line.find(option);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + option.size());
  if (!line.starts_with('"')) return std::string(line.substr(0, line.find(' ')));
  std::string folder;
  for (std::size_t i = 1; i < line.size() && line[i] != '"'; ++i)
    folder += line[i] == '\\' && i + 1 < line.size() ? line[++i] : line[i];
  return folder;
}

class verbose_reader {
public:
  explicit verbose_reader(driver_answers& to)
      : to_(to) {}

  void read(std::string_view line) {
    if (line.starts_with("#include ") && line.ends_with("search starts here:"))
      in_list_ = true;
    else if (line.starts_with("End of search list"))
      in_list_ = false;
    else if (in_list_ && line.starts_with(' '))
      add_directory(line.substr(1));
    else
      read_setting(line);
  }

private:
  void add_directory(std::string_view name) {
    append(to_.include_directories, {std::string(name)});
  }

  void read_setting(std::string_view line) {
    if (const auto dir = after(line, "ignoring nonexistent directory "))
      add_directory(unquoted(*dir));
    else if (const auto twin = after(line, "ignoring duplicate directory "))
      add_directory(unquoted(*twin));
    else if (const auto target = after(line, "Target: "))
      to_.target = *target;
    else if (const auto driver = after(line, "COLLECT_GCC="))
      to_.driver = *driver;
    else if (const auto specs = after(line, "Reading specs from "))
      to_.configuration.emplace_back(*specs);
    else if (const auto file = after(line, "Configuration file: "))
      to_.configuration.emplace_back(*file);
    else if (const auto gcc = after(line, "Selected GCC installation: "))
      to_.gcc_installation = *gcc;
    else if (const auto programs = after(line, "COMPILER_PATH="))
      append(to_.program_directories, split_path(*programs));
    else if (const auto libraries = after(line, "LIBRARY_PATH="))
      append(to_.library_directories, split_path(*libraries));
    else if (to_.front_end.empty())
      read_front_end(line);
  }

  void read_front_end(std::string_view line) {
    to_.front_end = front_end_of(line);
    if (!to_.front_end.empty()) to_.resource_folder = resource_folder_of(line);
  }

  driver_answers& to_;
  bool in_list_ = false;
};

template <class Read>
void each_line(std::string_view text, Read read) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    read(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
  }
}

} // namespace

std::vector<std::string> split_path(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const auto part = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

driver_answers read_answers(std::string_view verbose, std::string_view search_dirs) {
  driver_answers answers;
  verbose_reader reader(answers);
  each_line(verbose, [&](std::string_view line) { reader.read(line); });
  each_line(search_dirs, [&](std::string_view line) {
    if (const auto programs = after(line, "programs: ="))
      append(answers.program_directories, split_path(*programs));
    else if (const auto libraries = after(line, "libraries: ="))
      append(answers.library_directories, split_path(*libraries));
  });
  return answers;
}

std::vector<std::string> read_loaded(std::string_view listing) {
  std::vector<std::string> paths;
  each_line(listing, [&](std::string_view line) {
    const auto arrow = line.find(" => /");
    const auto end = line.rfind(" (0x");
    if (arrow == std::string_view::npos || end == std::string_view::npos || end < arrow + 4) return;
    if (!line.starts_with("\tlibc.so")) paths.emplace_back(line.substr(arrow + 4, end - arrow - 4));
  });
  return paths;
}

std::vector<std::string> read_own_rule(std::string_view rule) {
  if (!rule.starts_with("hearth:")) return {};
  return read_dependencies(rule).value_or(std::vector<std::string>{});
}

} // namespace hearth::fingerprints
