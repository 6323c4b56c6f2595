#include "storage/resp/resp_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace hearth::storage {
namespace {

constexpr std::string_view line_end = "\r\n";
// The bytes of a mark, a number and a line end.
constexpr std::size_t max_header_bytes = 24;

char* put(char* at, std::string_view text) { return std::copy(text.begin(), text.end(), at); }

// Writes `*3\r\n` or `$5\r\n`.
char* put_header(char* at, char mark, std::size_t number) {
  *at++ = mark;
  return put(std::to_chars(at, at + max_header_bytes, number).ptr, line_end);
}

class header {
public:
  header(char mark, std::size_t number)
      : size_(static_cast<std::size_t>(put_header(text_.data(), mark, number) - text_.data())) {}
  operator std::string_view() const noexcept { return {text_.data(), size_}; }

private:
  std::array<char, max_header_bytes> text_;
  std::size_t size_;
};

std::size_t max_bytes_of(std::span<const std::string> arguments) {
  std::size_t max = max_header_bytes;
  for (const auto& argument : arguments)
    max += max_header_bytes + argument.size() + line_end.size();
  return max;
}

constexpr std::size_t first_piece_bytes = 4u << 10;
constexpr std::size_t piece_bytes = 32u << 10;

} // namespace

void append_command(std::string& out, std::span<const std::string> arguments) {
  const auto before = out.size();
  out.resize(before + max_bytes_of(arguments));
  auto* at = put_header(out.data() + before, '*', arguments.size());
  for (const auto& argument : arguments)
    at = put(put(put_header(at, '$', argument.size()), argument), line_end);
  out.resize(static_cast<std::size_t>(at - out.data()));
}

void resp_writer::add(std::vector<std::string> arguments) {
  const auto is_small = [](const std::string& one) { return one.size() < own_piece_bytes; };
  if (std::all_of(arguments.begin(), arguments.end(), is_small))
    add_small(arguments);
  else
    add_large(std::move(arguments));
}

void resp_writer::add_small(std::span<const std::string> arguments) {
  auto& piece = open_piece(max_bytes_of(arguments));
  const auto before = piece.size();
  append_command(piece, arguments);
  bytes_ += piece.size() - before;
}

void resp_writer::add_large(std::vector<std::string> arguments) {
  append(header('*', arguments.size()));
  for (auto& argument : arguments) {
    append(header('$', argument.size()));
    if (argument.size() < own_piece_bytes)
      append(argument);
    else
      append_own(std::move(argument));
    append(line_end);
  }
}

// The last piece when it has room for `bytes` more, or a new piece.
std::string& resp_writer::open_piece(std::size_t bytes) {
  if (!open_ || pieces_.back().size() + bytes > piece_bytes) {
    pieces_.emplace_back();
    if (pieces_.size() == 1) pieces_.front().reserve(first_piece_bytes);
    open_ = true;
  }
  return pieces_.back();
}

void resp_writer::append(std::string_view text) {
  open_piece(text.size()) += text;
  bytes_ += text.size();
}

void resp_writer::append_own(std::string text) {
  bytes_ += text.size();
  pieces_.push_back(std::move(text));
  open_ = false;
}

// Keeps the memory of the first piece, which is never an argument by itself, for the next commands.
void resp_writer::clear() {
  if (bytes_ == 0) return;
  pieces_.resize(1);
  pieces_.front().clear();
  open_ = true;
  bytes_ = 0;
}

} // namespace hearth::storage
