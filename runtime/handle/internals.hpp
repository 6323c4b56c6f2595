// What lies behind the handles, for rooms above this one and for tests. Public headers name this
// class as a friend and show nothing of it.
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
  /// The cache as actors know it.
  static const named_cache_ptr& name(const cache& of) noexcept { return of.cache_; }
};

} // namespace hearth
