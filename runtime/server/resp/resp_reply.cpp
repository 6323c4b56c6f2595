#include "runtime/server/resp/resp_reply.hpp"

#include <array>
#include <charconv>

namespace hearth::server {
namespace {

constexpr std::string_view reply_end = "\r\n";

// A reply's line must not end early: texts come from clients in part.
std::string one_line(char mark, std::string_view text) {
  std::string line(1, mark);
  for (const char c : text)
    line += c == '\r' || c == '\n' ? ' ' : c;
  return line.append(reply_end);
}

} // namespace

void resp_reply::status(std::string_view text) { out_->append(status_text(text)); }

void resp_reply::error(std::string_view text) { out_->append(error_text(text)); }

void resp_reply::number_line(char mark, std::int64_t number) {
  std::array<char, 24> line; // NOLINT(cppcoreguidelines-pro-type-member-init)
  line[0] = mark;
  auto* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_->append({line.data(), static_cast<std::size_t>(end - line.data())});
}

void resp_reply::integer(std::int64_t number) { number_line(':', number); }

void resp_reply::bytes(std::string_view raw) {
  number_line('$', static_cast<std::int64_t>(raw.size()));
  out_->append(raw);
  out_->append(reply_end);
}

void resp_reply::bytes(const artifact& value, std::size_t offset, std::size_t count) {
  number_line('$', static_cast<std::int64_t>(count));
  out_->append_payload(value, offset, count);
  out_->append(reply_end);
}

void resp_reply::null() { out_->append(version_ == 3 ? "_\r\n" : "$-1\r\n"); }

void resp_reply::null_array() { out_->append(version_ == 3 ? "_\r\n" : "*-1\r\n"); }

void resp_reply::array(std::size_t items) { number_line('*', static_cast<std::int64_t>(items)); }

void resp_reply::map(std::size_t pairs) {
  if (version_ == 3)
    number_line('%', static_cast<std::int64_t>(pairs));
  else
    array(pairs * 2);
}

std::string status_text(std::string_view text) { return one_line('+', text); }

std::string error_text(std::string_view text) { return one_line('-', text); }

std::string integer_text(std::int64_t number) {
  return ':' + std::to_string(number) + std::string(reply_end);
}

} // namespace hearth::server
