// Access to the internals of the handles, for higher layers and for tests. Public headers only name
// this class as a friend.
#pragma once

#include "runtime/engine/core.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/runtime.hpp"

#include <memory>

namespace hearth {

class internals {
public:
  static engine::runtime_core& core(runtime& of) noexcept { return *of.core_; }
  static const std::shared_ptr<engine::runtime_core>& core(const cache& of) noexcept {
    return of.core_;
  }
  /// The named cache, as messages to actors refer to it.
  static const named_cache_ptr& name(const cache& of) noexcept { return of.cache_; }
  /// The same cache without its remote tier.
  static cache local_tiers(const cache& of) {
    auto local = *of.cache_;
    local.remote = false;
    auto copy = of;
    copy.cache_ = std::make_shared<const named_cache>(std::move(local));
    return copy;
  }
};

} // namespace hearth
