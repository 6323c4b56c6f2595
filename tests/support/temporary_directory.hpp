// A private directory for one test: removed when the test passed, kept and reported when it failed.
#pragma once

#include <filesystem>

namespace hearth::test {

class temporary_directory {
public:
  temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

} // namespace hearth::test
