#include "runtime/os/find_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace hearth::os {
namespace {

namespace fs = std::filesystem;

// 0, or the errno that explains why the file cannot be executed.
int check_executable(const fs::path& file) {
  std::error_code why;
  const auto status = fs::status(file, why);
  if (!fs::exists(status)) return why ? why.value() : ENOENT;
  if (fs::is_directory(status)) return EISDIR;
  if (!fs::is_regular_file(status)) return EACCES;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

bool is_missing(int why) { return why == ENOENT || why == ENOTDIR; }

std::string text_of(int number) { return std::generic_category().message(number); }

tl::unexpected<error> refuse(errc code, const std::string& name, const std::string& why) {
  return fail(code, "cannot run " + name + ": " + why);
}

expected<std::string> check_path(const std::string& name, const std::string& directory) {
  const auto file = fs::path(directory) / name;
  const int why = check_executable(file);
  if (why == 0) return file.string();
  return refuse(is_missing(why) ? errc::program_not_found : errc::program_refused, name,
                text_of(why));
}

// Contains a '/', so that it is not searched for again.
fs::path candidate(std::string_view folder, const std::string& name, const std::string& directory) {
  return fs::path(directory) / (folder.empty() && directory.empty() ? "." : folder) / name;
}

expected<std::string> search(const std::string& name, std::string_view path,
                             const std::string& directory) {
  std::string refused; // a file of that name that cannot be executed
  for (const auto folder : folders_in(path)) {
    const auto file = candidate(folder, name, directory);
    const int why = check_executable(file);
    if (why == 0) return file.string();
    if (!is_missing(why) && refused.empty()) refused = file.string() + ": " + text_of(why);
  }
  if (!refused.empty()) return refuse(errc::program_refused, name, refused);
  return refuse(errc::program_not_found, name,
                "it is not in PATH (" + std::string(path) + "); install it or name its path");
}

} // namespace

std::vector<std::string_view> folders_in(std::string_view search_path) {
  std::vector<std::string_view> folders;
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const auto end = std::min(search_path.find(':', begin), search_path.size());
    folders.push_back(search_path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

bool is_program(const std::string& path) { return check_executable(path) == 0; }

expected<std::string> find_program(const std::string& name, std::string_view path,
                                   const std::string& directory) {
  return name.find('/') != std::string::npos ? check_path(name, directory)
                                             : search(name, path, directory);
}

std::string_view search_path() {
  const char* path = std::getenv("PATH");
  return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

} // namespace hearth::os
