// The handle of the dynamic loader for a shared object. Any thread.
#pragma once

#include "messages/artifact.hpp"
#include "messages/digest.hpp"
#include "runtime/caches/modules/loaded_module.hpp"
#include "runtime/os/files/descriptor.hpp"

#include <filesystem>
#include <memory>

namespace hearth {

/// The destructor unloads the object.
class loaded_module::handle {
public:
  /// `memory` is the loaded file if it has no name. The loader knows it by its number, which must
  /// not be reused while the object is loaded.
  handle(void* of, os::descriptor memory)
      : handle_(of)
      , memory_(std::move(memory)) {}
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle();

  void* get() const noexcept { return handle_; }

private:
  void* handle_;
  os::descriptor memory_;
};

/// Loads the shared object of this content, once for each process: from a file in `folder`, which
/// is written if it is missing or damaged, or from memory if there is no folder or it cannot be
/// written. Errors: `unsupported`, with the text of the dynamic loader.
expected<std::shared_ptr<const loaded_module::handle>>
load_once(const artifact& object, const std::filesystem::path& folder);

} // namespace hearth
