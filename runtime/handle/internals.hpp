// Access to the internals of the handles, for higher layers and for tests. Public headers only name
// this class as a friend.
#pragma once

#include "runtime/engine/core.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/runtime.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// Of the library's interface, also where this header comes first.
namespace HEARTH_PUBLIC hearth {
class recording_session;
}

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

  /// The same cache with its remote tier alone, for look-ups.
  static cache remote_tier(const cache& of) {
    auto remote = *of.cache_;
    remote.memory = remote.disk = false;
    auto copy = of;
    copy.cache_ = std::make_shared<const named_cache>(std::move(remote));
    return copy;
  }

  /// The number of a recording, as messages to actors refer to it.
  static std::uint64_t number(const recording_session& of) noexcept;
  /// Notes an entry by its address.
  static void note(const recording_session& in, std::string_view type, const cache_key& key,
                   const artifact& value);
  /// Notes a variant of a guarded key: its entry, and the set with it.
  static void note_variant(const recording_session& in, std::string_view type,
                           const cache_key& base, const std::string& guard, const artifact& value);
};

} // namespace hearth
