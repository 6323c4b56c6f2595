// The output of commands: results on stdout, everything else on stderr, and the exit status.
#pragma once

#include "messages/error.hpp"
#include "runtime/api/config.hpp"
#include "runtime/front/statuses.hpp"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::cli {

/// Exit statuses.
enum status : int {
  yes = 0,         ///< done, or the answer is yes
  no = 1,          ///< miss, exists, false, differs, failed kernels
  bad_input = 2,   ///< bad usage or bad input
  trouble = 3,     ///< I/O or remote trouble
  no_reader = 141, ///< who read stdout has ended
};
static_assert(int{no_reader} == front::output_has_no_reader);

using enum front::run_status;

/// The status that an error ends a command with.
status status_of(const error& why) noexcept;

/// Prints a text on stderr. What cannot be written is lost.
void say(std::string_view text) noexcept;

/// Prints an error on stderr in one line ("hearth: ..."); returns its status.
status report(const error& why);

/// Prints the runtime's log on stderr, as far as it is at least this severe.
log_callback stderr_log(log_level least);

/// For --quiet. Called by the main thread before the work begins.
void hide_progress() noexcept;
/// Whether that was called.
bool hides_progress() noexcept;
/// Whether long work shows its progress: it is not hidden, and stderr is a terminal.
bool shows_progress();

/// A bar of 24 characters, "[####....]".
std::string progress_bar(std::uint64_t done, std::uint64_t all);

/// The progress of long work, redrawn in place on stderr if it is shown; erased at the end.
class byte_progress {
public:
  explicit byte_progress(std::string_view what)
      : what_(what) {}
  byte_progress(const byte_progress&) = delete;
  byte_progress& operator=(const byte_progress&) = delete;
  ~byte_progress();
  void operator()(std::uint64_t done, std::uint64_t all);

private:
  std::string_view what_;
  std::chrono::steady_clock::time_point next_{};
  bool is_shown_ = false;
};

/// "1.5 MiB"
std::string human_bytes(std::uint64_t bytes);
/// "1.23 ms"
std::string human_time(std::int64_t nanoseconds);

/// The columns that a table may take: $COLUMNS, else those of the terminal `descriptor`, else 80.
std::size_t output_width(int descriptor = 1);
/// Characters of UTF-8.
std::size_t character_count(std::string_view text);
/// `text`, cut to this many characters; then it ends in "..".
std::string shortened(std::string text, std::size_t characters);
/// `text` with spaces behind it, up to this many characters.
std::string padded(std::string text, std::size_t characters);

/// Text in columns: the first row is the head. Columns for which `right` is set align right.
/// Control characters are shown as escapes; a cell's width is counted in characters of UTF-8.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 const std::vector<bool>& right);

/// `text` with control characters and invalid UTF-8 as `\xNN`, for a terminal.
std::string printable(std::string_view text);

/// Writes to stdout and flushes; returns false when that fails (a full disk, a closed pipe).
bool write_stdout(std::string_view text);

/// The status of a command whose last `write_stdout` failed. Reports it, unless stdout is a pipe
/// whose reader has ended: `hearth list | head` got what it wanted.
status unwritten();

/// Writes a command's result to stdout; returns `ending`, or that of `unwritten`.
status print(std::string_view text, status ending);

} // namespace hearth::cli
