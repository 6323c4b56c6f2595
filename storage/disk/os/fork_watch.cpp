#include "storage/disk/os/fork_watch.hpp"

#include <mutex>
#include <pthread.h>
#include <unistd.h>

namespace hearth::storage::disk {
namespace {

// Held across a fork, so that the child finds the list whole.
std::mutex& list_mutex() {
  static auto* mutex = new std::mutex; // never destroyed: a fork may come at exit
  return *mutex;
}
unshared_file* first = nullptr;

} // namespace

void close_unshared_files() noexcept {
  for (auto* one = first; one; one = one->next_)
    if (const int fd = one->file_.release(); fd >= 0) ::close(fd);
}

namespace {

void before_fork() { list_mutex().lock(); }
void after_fork_in_parent() { list_mutex().unlock(); }
void after_fork_in_child() {
  close_unshared_files();
  list_mutex().unlock();
}

void install_once() {
  static const int installed =
      ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  (void)installed;
}

} // namespace

unshared_file::unshared_file(file opened)
    : file_(std::move(opened)) {
  install_once();
  const std::lock_guard lock(list_mutex());
  next_ = first;
  if (first) first->previous_ = this;
  first = this;
}

unshared_file::~unshared_file() {
  const std::lock_guard lock(list_mutex());
  if (next_) next_->previous_ = previous_;
  (previous_ ? previous_->next_ : first) = next_;
}

} // namespace hearth::storage::disk
