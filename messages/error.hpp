// Errors: a documented code, and a line of text that says what went wrong, where, and what to do.
//
// Plain values, for any thread. A miss is never an error. Errors cross every boundary of Hearth as
// the right-hand side of an `expected`; nothing throws across one.
#pragma once

#include "messages/visibility.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace HEARTH_PUBLIC hearth {

/// Every error that Hearth reports. The numbers are stable: they travel in messages and logs.
enum class errc : std::uint8_t {
  invalid_argument = 1, ///< a name, option or call that is never valid
  invalid_key,          ///< not canonical msgpack of a str, int, bin or array of keys
  invalid_value,        ///< a value that the cache cannot hold
  malformed,            ///< input that does not parse: plan, guard, file, variable, message
  too_large,            ///< above a documented limit
  corrupt,              ///< stored bytes whose checksum failed; reported once, then a miss
  not_found,            ///< a required file, symbol or name is missing
  io,                   ///< the operating system reported an I/O error
  no_space,             ///< disk or quota is full
  too_many_files,       ///< no file descriptor or no address space left
  permission,           ///< the user lacks the right, or another user owns the file
  read_only,            ///< this cache, store or file system is read-only
  unsupported,          ///< a file system, format or platform that cannot be used
  busy,                 ///< a lock was not available within its deadline
  overloaded,           ///< too many requests in flight, and the policy refuses more
  timeout,              ///< the deadline passed
  cancelled,            ///< the caller gave up waiting
  closed,               ///< the runtime or the store is shut down
  forked,         ///< this process is the child of a fork; calls that need threads are refused
  lease_cycle,    ///< a compile callback waits for a lease whose holder waits for it
  lease_lost,     ///< the lease was taken over, or was never held
  compile_failed, ///< the compiler, or the callback that compiles, failed
  process_failed, ///< a subprocess could not be started, crashed or was killed
  // 24 is no code.
  overflow = 25,     ///< a number outside 64 bits
  division_by_zero,  ///< in a guard or a shape expression
  unknown_name,      ///< a name that nothing defines
  remote,            ///< the remote tier refused, stalled or sent wrong data
  internal,          ///< a broken invariant of Hearth: a bug
  program_not_found, ///< a program to run does not exist
  program_refused,   ///< a program to run is not a program, or not executable
};

/// The code's name ("no_space").
std::string_view to_string(errc code) noexcept;

/// The area to which an error belongs, for counters and exit statuses.
enum class error_category : std::uint8_t { input, storage, runtime, compile, remote, internal };

/// The category of a code; the caller can correct an `input` error (exit status 2).
error_category category_of(errc code) noexcept;
std::string_view to_string(error_category category) noexcept;

/// An error: a code and its text. One pointer wide, so that results stay small.
class error {
public:
  error() = default;
  /// `text` is one line that says what, where and what to do.
  error(errc code, std::string text);

  errc code() const noexcept { return detail_ ? detail_->code : errc::internal; }
  error_category category() const noexcept { return category_of(code()); }
  const std::string& text() const noexcept;
  /// "no_space: cannot append to /x/000001.seg: No space left on device; free some"
  std::string to_string() const;
  /// The same error with `where` and a colon in front of its text.
  error within(std::string_view where) const;

  friend bool operator==(const error& a, const error& b) noexcept {
    return a.code() == b.code() && a.text() == b.text();
  }

private:
  struct detail {
    errc code;
    std::string text;
  };
  std::shared_ptr<const detail> detail_;
};

/// A `T`, or the error instead of one.
template <class T>
using expected = tl::expected<T, error>;

/// `return fail(errc::io, "...")` from any function that returns an `expected`.
[[nodiscard]] inline tl::unexpected<error> fail(errc code, std::string text) {
  return tl::unexpected<error>(error{code, std::move(text)});
}
[[nodiscard]] inline tl::unexpected<error> fail(error why) {
  return tl::unexpected<error>(std::move(why));
}

/// The code for an `errno` value: ENOSPC and EDQUOT are `no_space`, EMFILE `too_many_files`, ...
errc errc_of_errno(int number) noexcept;
/// `what` (an action and its object) and the system's own text for `number`.
error error_of_errno(int number, std::string_view what);

} // namespace hearth
