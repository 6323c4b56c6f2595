// A small file of numbers that all processes map, for what they count and tell each other. What
// cannot be mapped (no room, no rights, another file in its place) is as if it were not there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace hearth::os {

/// Numbers in a file, zero at first. Any thread.
class number_file {
public:
  /// `format` tells files of other kinds apart. `makes`: if it is not there yet.
  number_file(const std::filesystem::path& path, std::uint64_t format, std::size_t count,
              bool makes);
  number_file(const number_file&) = delete;
  number_file& operator=(const number_file&) = delete;
  ~number_file();

  explicit operator bool() const { return numbers_ != nullptr; }
  /// The file has to be there, and `place` to be below the count.
  std::atomic_ref<std::uint64_t> at(std::size_t place) const {
    return std::atomic_ref(numbers_[1 + place]);
  }

private:
  void close();

  std::size_t bytes_;
  std::uint64_t* numbers_ = nullptr; // the format first
};

} // namespace hearth::os
