#include "storage/remote/resp_writer.hpp"

#include <array>
#include <charconv>

namespace hearth::storage {
namespace {

// `*3\r\n` or `$5\r\n`.
class header {
public:
  header(char mark, std::size_t number) {
    text_[0] = mark;
    auto* end = std::to_chars(text_.data() + 1, text_.data() + text_.size() - 2, number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    size_ = static_cast<std::size_t>(end - text_.data());
  }
  operator std::string_view() const noexcept { return {text_.data(), size_}; }

private:
  std::array<char, 24> text_;
  std::size_t size_;
};

constexpr std::size_t first_piece_bytes = 4u << 10;
constexpr std::size_t piece_bytes = 32u << 10;

} // namespace

void append_command(std::string& out, std::span<const std::string> arguments) {
  out += header('*', arguments.size());
  for (const auto& argument : arguments)
    out.append(header('$', argument.size())).append(argument).append("\r\n");
}

void resp_writer::add(std::vector<std::string> arguments) {
  append(header('*', arguments.size()));
  for (auto& argument : arguments) {
    append(header('$', argument.size()));
    if (argument.size() < own_piece_bytes)
      append(argument);
    else
      append_own(std::move(argument));
    append("\r\n");
  }
}

void resp_writer::append(std::string_view text) {
  if (!open_ || pieces_.back().size() + text.size() > piece_bytes) {
    pieces_.emplace_back();
    if (pieces_.size() == 1) pieces_.front().reserve(first_piece_bytes);
    open_ = true;
  }
  pieces_.back() += text;
  bytes_ += text.size();
}

void resp_writer::append_own(std::string text) {
  bytes_ += text.size();
  pieces_.push_back(std::move(text));
  open_ = false;
}

// The room of the first piece, which is never an argument by itself, serves what comes next.
void resp_writer::clear() {
  if (bytes_ == 0) return;
  pieces_.resize(1);
  pieces_.front().clear();
  open_ = true;
  bytes_ = 0;
}

} // namespace hearth::storage
