#include "runtime/process/find_program.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace hearth {
namespace {

namespace fs = std::filesystem;

// 0, or why the file cannot be executed.
int check_executable(const fs::path& file) {
  std::error_code why;
  const auto status = fs::status(file, why);
  if (!fs::exists(status)) return why ? why.value() : ENOENT;
  if (fs::is_directory(status)) return EISDIR;
  if (!fs::is_regular_file(status)) return EACCES;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

tl::unexpected<error> refuse(const std::string& name, const std::string& why) {
  return fail(errc::process_failed, "cannot run " + name + ": " + why);
}

std::string text_of(int number) { return std::generic_category().message(number); }

expected<std::string> search(const std::string& name, std::string_view path,
                             const std::string& directory) {
  std::string refused; // a file of that name that cannot be executed
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find(':', begin), path.size());
    // An empty folder in PATH is the working directory.
    const auto file = fs::path(directory) / path.substr(begin, end - begin) / name;
    const int why = check_executable(file);
    if (why == 0) return file.string();
    if (why != ENOENT && why != ENOTDIR && refused.empty())
      refused = file.string() + ": " + text_of(why);
    begin = end + 1;
  }
  if (!refused.empty()) return refuse(name, refused);
  return refuse(name, "it is not in PATH (" + std::string(path) + "); install it or name its path");
}

} // namespace

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& variable : environment)
    if (variable.starts_with(name) && variable.size() > name.size() && variable[name.size()] == '=')
      return variable.c_str() + name.size() + 1;
  return nullptr;
}

expected<std::string> find_program(const std::string& name,
                                   const std::vector<std::string>& environment,
                                   const std::string& directory) {
  if (name.find('/') != std::string::npos) {
    const auto file = fs::path(directory) / name;
    if (const int why = check_executable(file); why != 0) return refuse(name, text_of(why));
    return file.string();
  }
  const char* path = find_variable(environment, "PATH");
  if (!path) path = std::getenv("PATH");
  return search(name, path ? path : "/usr/bin:/bin", directory);
}

} // namespace hearth
