// A file that can be read more than once: a regular file directly, anything else (a pipe, a
// terminal) through a private temporary copy. Used by one thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace hearth::os {

class rereadable_file {
public:
  /// `-` is stdin. Errors: `invalid_argument` when there is no such file, or `open_input` refuses
  /// what it is; those of reading, and of writing the temporary.
  static expected<rereadable_file> open(const std::string& path);

  /// Reads up to `max_bytes` of the next bytes. Returns their number, 0 at the end.
  expected<std::size_t> read(char* to, std::size_t max_bytes);
  /// Goes back to the start.
  void rewind() noexcept { position_ = 0; }
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t position() const noexcept { return position_; }

private:
  rereadable_file(std::string name, descriptor file, std::uint64_t size)
      : name_(std::move(name))
      , file_(std::move(file))
      , size_(size) {}

  std::string name_;
  descriptor file_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
};

} // namespace hearth::os
