// Keeps locks from passing to a forked child. A child shares the open file descriptions of its
// parent: it would keep a dead parent's lock, and could release a living parent's lease.
//
// Any thread. The child's handler runs inside `fork`; it closes the files that are registered here.
// Handles in the child recognise the fork by `fork_generation`.
#pragma once

#include "storage/disk/os/file_system.hpp"
#include "storage/fork_generation.hpp"

namespace hearth::storage::disk {

/// An open file that a forked child closes at once.
class unshared_file {
public:
  explicit unshared_file(file opened);
  unshared_file(const unshared_file&) = delete;
  unshared_file& operator=(const unshared_file&) = delete;
  ~unshared_file();

  /// -1 in a forked child.
  int get() const noexcept { return file_.get(); }

private:
  friend void close_unshared_files() noexcept;
  file file_;
  unshared_file* previous_ = nullptr;
  unshared_file* next_ = nullptr;
};

} // namespace hearth::storage::disk
