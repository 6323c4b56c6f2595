// This program again, as a process of its own that plays a role (see row.hpp).
//
// One thread owns it. A child is killed when its owner goes, and when this program dies.
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

  /// Waits until it says that it is ready. Throws when it ends instead.
  void wait_until_ready();
  /// Lets it go on, after `ready()`.
  void go() const;
  void kill() const;
  /// Waits for its end. Whether it ended well.
  bool wait();

private:
  pid_t pid_ = -1;
  int from_child_ = -1;
  int to_child_ = -1;
};

/// Called by a role: tells whoever started it that it is ready, and waits to be let go on.
void ready_and_wait();

} // namespace hearth::bench
