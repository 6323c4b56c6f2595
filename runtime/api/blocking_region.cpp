#include "runtime/api/blocking_region.hpp"

#include <utility>

namespace hearth {
namespace {

constinit thread_local blocking_observer* this_threads_observer = nullptr;

} // namespace

blocking_observer* set_blocking_observer(blocking_observer* observer) noexcept {
  return std::exchange(this_threads_observer, observer);
}

blocking_region::blocking_region()
    : observer_(this_threads_observer) {
  if (observer_) observer_->wait_begins();
}

blocking_region::~blocking_region() {
  if (observer_) observer_->wait_ends();
}

} // namespace hearth
