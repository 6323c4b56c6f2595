// Shared objects in this process: loaded once for all callers, kept until `clear`.
//
// Any thread; copies share the cache.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "messages/visibility.hpp"
#include "runtime/caches/modules/loaded_module.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>

namespace HEARTH_PUBLIC hearth {

class runtime;

class module_cache {
public:
  /// Loads from files in the folder `modules/` of the runtime's store; without a store, from
  /// memory.
  explicit module_cache(runtime& in);
  /// Loads from files in that folder; empty: from memory.
  explicit module_cache(std::filesystem::path folder = {});

  /// The shared object of these bytes. One that any cache of this process has loaded is not loaded
  /// again. Errors: `unsupported`, with the text of the dynamic loader.
  expected<loaded_module> load(const artifact& object) const;

  /// Releases all modules of this cache; each is unloaded when its last copy is destroyed.
  void clear() const;
  /// The number of modules that it keeps.
  std::size_t size() const;

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace hearth
