#include "runtime/cli/io/output.hpp"

#include "messages/hex.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <ostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace hearth::cli {
namespace {

// The size in bytes of the UTF-8 character at the front of `text`, or 0 when it is invalid.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80                    ? 1
                           : first >= 0xc2 && first < 0xe0 ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return size;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// $COLUMNS, if it is a sensible number.
std::size_t asked_width() {
  constexpr std::size_t least = 20, most = 100'000;
  const char* const text = std::getenv("COLUMNS");
  if (!text) return 0;
  std::size_t columns = 0;
  const auto* const end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, columns);
  return problem == std::errc{} && stop == end && columns >= least && columns <= most ? columns : 0;
}

bool is_progress_hidden = false; // written before any other thread starts
int write_errno = 0;             // of the last `write_stdout`; main thread

} // namespace

status status_of(const error& why) noexcept {
  switch (why.category()) {
  case error_category::input: return bad_input;
  case error_category::compile: return no;
  case error_category::storage:
  case error_category::runtime:
  case error_category::remote:
  case error_category::internal: break;
  }
  return trouble;
}

void say(std::string_view text) noexcept { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

status report(const error& why) {
  auto line = why.text();
  std::replace(line.begin(), line.end(), '\n', ' ');
  say(fmt::format("hearth: {}\n", printable(line)));
  return status_of(why);
}

log_callback stderr_log(log_level least) {
  return [least](log_level level, std::string_view text) {
    if (level >= least) say(fmt::format("hearth: {}: {}\n", to_string(level), printable(text)));
  };
}

std::string progress_bar(std::uint64_t done, std::uint64_t all) {
  constexpr std::size_t width = 24;
  const auto part = all == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(all);
  const auto filled = std::min(width, static_cast<std::size_t>(part * width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

void hide_progress() noexcept { is_progress_hidden = true; }

bool hides_progress() noexcept { return is_progress_hidden; }

bool shows_progress() { return !is_progress_hidden && isatty(STDERR_FILENO) != 0; }

byte_progress::~byte_progress() {
  if (is_shown_) say("\r\033[K");
}

void byte_progress::operator()(std::uint64_t done, std::uint64_t all) {
  static const bool is_shown = shows_progress();
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  is_shown_ = true;
  say(fmt::format("\r\033[K{} {} {} of {}", what_, progress_bar(done, all), human_bytes(done),
                  human_bytes(all)));
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit)
    amount /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

std::string human_time(std::int64_t nanoseconds) {
  const auto amount = static_cast<double>(nanoseconds);
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  if (nanoseconds < 1'000'000) return fmt::format("{:.2f} us", amount / 1e3);
  if (nanoseconds < 1'000'000'000) return fmt::format("{:.2f} ms", amount / 1e6);
  return fmt::format("{:.2f} s", amount / 1e9);
}

std::size_t output_width(int descriptor) {
  constexpr std::size_t usual = 80;
  if (const auto asked = asked_width(); asked > 0) return asked;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return usual;
  return size.ws_col;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(std::string text, std::size_t characters) {
  if (character_count(text) <= characters) return text;
  constexpr std::string_view mark = "..";
  const auto kept = characters - std::min(characters, mark.size());
  std::size_t bytes = 0;
  for (std::size_t count = 0; bytes < text.size(); ++bytes)
    if (starts_character(text[bytes]) && count++ == kept) break;
  text.resize(bytes);
  return text.append(mark.substr(0, characters));
}

std::string padded(std::string text, std::size_t characters) {
  const auto count = character_count(text);
  return count < characters ? text.append(characters - count, ' ') : text;
}

void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 const std::vector<bool>& right) {
  std::vector<std::size_t> widths(right.size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], character_count(row[i]));
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - character_count(row[i]), ' ');
      if (i > 0) line += "  ";
      line += right[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto size = character_size(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (size == 0 || first < 0x20 || first == 0x7f) {
      append_hex_escape(result, text[0]);
      text.remove_prefix(1);
    } else {
      result += text.substr(0, size);
      text.remove_prefix(size);
    }
  }
  return result;
}

bool write_stdout(std::string_view text) {
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  write_errno = written ? 0 : errno;
  return written;
}

status unwritten() {
  if (write_errno == EPIPE) return no_reader;
  return report({errc::io, "cannot write to stdout"});
}

status print(std::string_view text, status ending) {
  return write_stdout(text) ? ending : unwritten();
}

} // namespace hearth::cli
