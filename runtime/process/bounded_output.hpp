// The output of a program within a bound: keeps its beginning and its end. Owned by the reader of
// the program; one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::process {

class bounded_output {
public:
  /// Keeps at most `limit` bytes, including the note about the bytes left out.
  explicit bounded_output(std::size_t limit);

  void append(std::string_view bytes);
  /// The whole output, or its first and last parts with "[... N bytes left out ...]" on a line
  /// between.
  std::string text() const;

private:
  std::string tail() const;

  std::size_t head_limit_;
  std::size_t tail_limit_;
  std::string head_;
  std::string ring_; // the last bytes; once full, the oldest is at `oldest_`
  std::size_t oldest_ = 0;
  std::size_t left_out_ = 0; // bytes dropped from the ring
};

} // namespace hearth::process
