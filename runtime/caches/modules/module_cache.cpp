#include "runtime/caches/modules/module_cache.hpp"

#include "runtime/caches/modules/module_files.hpp"
#include "runtime/caches/modules/module_handle.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/handle/runtime.hpp"

#include <mutex>
#include <set>
#include <utility>

namespace hearth {

struct module_cache::shared {
  explicit shared(std::filesystem::path where)
      : folder(std::move(where)) {}
  const std::filesystem::path folder;
  std::mutex mutex;
  std::set<std::shared_ptr<const loaded_module::handle>> kept; // guarded
};

namespace {

std::filesystem::path folder_of(runtime& in) {
  const auto& settings = internals::core(in).settings();
  if (!in.has_disk() || settings.store_read_only) return {};
  return module_folder(settings.store);
}

} // namespace

module_cache::module_cache(runtime& in)
    : module_cache(folder_of(in)) {}

module_cache::module_cache(std::filesystem::path folder)
    : shared_(std::make_shared<shared>(std::move(folder))) {}

expected<loaded_module> module_cache::load(const artifact& object) const {
  auto loaded = load_once(object, shared_->folder);
  if (!loaded) return fail(loaded.error());
  const std::lock_guard lock(shared_->mutex);
  shared_->kept.insert(*loaded);
  return loaded_module(std::move(*loaded));
}

void module_cache::clear() const {
  // Modules are unloaded without the lock: their destructors may be slow.
  std::set<std::shared_ptr<const loaded_module::handle>> gone;
  const std::lock_guard lock(shared_->mutex);
  gone.swap(shared_->kept);
}

std::size_t module_cache::size() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->kept.size();
}

} // namespace hearth
