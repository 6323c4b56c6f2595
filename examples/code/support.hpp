// The folder of an example, empty at its start and removed at its end; and the exit on an error.
#pragma once

#include <hearth/hearth.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <unistd.h>
#include <utility>

namespace example {

class folder {
public:
  explicit folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("hearth-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

/// Settings of a runtime whose store is in `folder`.
inline hearth::config over(const std::filesystem::path& folder) {
  hearth::config settings;
  settings.store = folder;
  return settings;
}

/// The value of an `expected`; without one, prints the error and ends the program.
template <class T>
auto value_of(T result) {
  if (result) return std::move(*result);
  std::cerr << result.error().to_string() << '\n';
  std::exit(1);
}

} // namespace example
