// A child process that runs this program in a role (see row.hpp).
//
// One thread owns it. The child is killed when its owner is destroyed, and when this program dies.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace hearth::bench {

class child_program {
public:
  /// Starts `hearth-bench --role ROLE ARGUMENT...`. Throws `std::runtime_error`.
  child_program(const std::string& role, const std::vector<std::string>& arguments);
  child_program(child_program&& other) noexcept;
  child_program& operator=(child_program&&) = delete;
  ~child_program();

  /// Waits until the child reports that it is ready. Throws when it ends instead.
  void wait_until_ready();
  /// Lets the child continue, after `wait_until_ready()`.
  void go() const;
  void kill() const;
  /// Waits for the child's end. Returns whether it succeeded.
  bool wait();

private:
  pid_t pid_ = -1;
  int from_child_ = -1;
  int to_child_ = -1;
};

/// Called by a role: reports to the parent process that it is ready, and waits for `go`.
void ready_and_wait();

} // namespace hearth::bench
