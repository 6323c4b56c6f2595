// Shared objects in this process: loaded once however many ask, kept until they are let go.
//
// Any thread; copies share the cache.
#pragma once

#include "messages/artifact.hpp"
#include "messages/error.hpp"
#include "runtime/caches/modules/loaded_module.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>

namespace hearth {

class runtime;

class module_cache {
public:
  /// Loads from files in the folder `modules/` of the runtime's store; without a store, from
  /// memory.
  explicit module_cache(runtime& in);
  /// Loads from files in that folder; empty: from memory.
  explicit module_cache(std::filesystem::path folder = {});

  /// The shared object of these bytes. One that anybody in this process has loaded is not loaded
  /// again. Errors: `unsupported`, what the dynamic loader says of it.
  expected<loaded_module> load(const artifact& object) const;

  /// Lets go of all that this cache has loaded; each is unloaded when nobody has it any more.
  void clear() const;
  /// How many it keeps.
  std::size_t size() const;

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace hearth
