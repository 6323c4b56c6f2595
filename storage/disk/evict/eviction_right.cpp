#include "storage/disk/evict/eviction_right.hpp"

namespace hearth::storage::disk {

eviction_right::~eviction_right() {
  if (!taken_) return;
  files_.system.unlock_byte(files_.lock->fd(), evictor_byte);
  mutex_.unlock();
}

bool eviction_right::take() noexcept {
  if (taken_) return true;
  if (!mutex_.try_lock()) return false;
  taken_ = files_.system.try_lock_byte(files_.lock->fd(), evictor_byte) == 0;
  if (!taken_) mutex_.unlock();
  return taken_;
}

} // namespace hearth::storage::disk
