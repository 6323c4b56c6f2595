#include "storage/disk/repair/write_access.hpp"

namespace hearth::storage::disk {

expected<shard_lock_hold> write_access::lock() {
  if (!files_.is_writable()) return fail(files_.refusal());
  const auto deadline = files_.config.lock_deadline;
  if (!files_.lock->lock(deadline))
    return fail(errc::busy, "cannot lock " + files_.config.path.string() + " within " +
                                std::to_string(deadline.count()) +
                                " ms: another process holds it; try again");
  shard_lock_hold held(*files_.lock);
  if (auto ready = recovery_.put_in_order(); !ready) return fail(ready.error());
  return held;
}

} // namespace hearth::storage::disk
