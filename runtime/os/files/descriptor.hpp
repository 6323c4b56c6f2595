// A file descriptor that closes itself. Owned by one object, used from one thread at a time.
#pragma once

#include "messages/error.hpp"

#include <string>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace hearth::os {

class descriptor {
public:
  descriptor() = default;
  explicit descriptor(int number)
      : number_(number) {}
  descriptor(descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  /// Leaves the descriptor to the caller.
  int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

private:
  int number_ = -1;
};

/// The two ends of a pipe or of a socket pair. All descriptors made here are close-on-exec, and
/// have higher numbers than those that `posix_spawn` sets up for a child.
struct descriptor_pair {
  descriptor ours;
  descriptor theirs;
};

/// A pipe: `ours` is the read end, which never blocks, `theirs` the write end.
expected<descriptor_pair> make_pipe();
/// Connected sockets that preserve message boundaries.
expected<descriptor_pair> make_message_sockets();
/// A file in memory that holds `content`, to be read from its start.
expected<descriptor> make_memory_file(std::string_view content);
/// A counter that `poll` can wait for.
expected<descriptor> make_event();
/// A handle of a process, readable when it has ended; empty where the kernel has none (before 5.3).
descriptor make_process_handle(pid_t process);

/// Everything up to the end of `from`, at most `limit` bytes. Errors: `too_large`, `io`.
expected<std::string> read_to_end(int from, std::size_t limit);

/// Writes all of `bytes`, at the file's position. Errors: those of the system.
expected<void> write_all(int to, std::string_view bytes);

} // namespace hearth::os
