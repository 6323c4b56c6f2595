#include "runtime/caches/modules/module_handle.hpp"

#include "runtime/caches/modules/module_files.hpp"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <utility>

namespace hearth {
namespace {

using handle_ptr = std::shared_ptr<const loaded_module::handle>;

// Another process may remove a file after it was written and before it is loaded.
constexpr int max_attempts = 4;

// The objects of this process, by content. Each has its own lock: a slow constructor of one object,
// which may load others, delays only the callers of that object.
class module_table {
public:
  struct slot {
    std::mutex loading;
    std::weak_ptr<const loaded_module::handle> living;
  };

  std::shared_ptr<slot> slot_of(const digest& content) {
    const std::lock_guard lock(mutex_);
    if (slots_.size() > slots_after_sweep_ * 2 + 64) sweep();
    auto& found = slots_[content];
    if (!found) found = std::make_shared<slot>();
    return found;
  }

private:
  // Removes the slots of objects that are not loaded and that no thread loads.
  void sweep() {
    std::erase_if(slots_, [](const auto& one) {
      return one.second.use_count() == 1 && one.second->living.expired();
    });
    slots_after_sweep_ = slots_.size();
  }

  std::mutex mutex_;
  std::map<digest, std::shared_ptr<slot>> slots_;
  std::size_t slots_after_sweep_ = 0;
};

// Never destroyed: modules may be unloaded by objects that live longer than statics.
module_table& of_this_process() {
  static auto* const table = new module_table;
  return *table;
}

error loader_error() {
  const char* why = ::dlerror();
  return {errc::unsupported, std::string("cannot load a module: ") + (why ? why : "no reason")};
}

expected<handle_ptr> open(const std::string& path, os::descriptor memory) {
  void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) return fail(loader_error());
  return std::make_shared<const loaded_module::handle>(opened, std::move(memory));
}

expected<handle_ptr> load_from_memory(const artifact& object) {
  auto file = os::make_memory_file(object.payload());
  if (!file) return fail(file.error());
  const auto path = "/proc/self/fd/" + std::to_string(file->get());
  return open(path, std::move(*file));
}

expected<handle_ptr> load_from(const std::filesystem::path& folder, const digest& content,
                               const artifact& object) {
  expected<handle_ptr> loaded = fail(errc::not_found, "no file");
  for (int i = 0; i < max_attempts; ++i) {
    const auto file = write_module_file(folder, content, object);
    if (!file) return fail(file.error());
    loaded = open(file->string(), {});
    std::error_code ignored;
    if (loaded || std::filesystem::exists(*file, ignored)) break;
  }
  return loaded;
}

} // namespace

loaded_module::handle::~handle() { ::dlclose(handle_); }

expected<handle_ptr> load_once(const artifact& object, const std::filesystem::path& folder) {
  const auto content = sha256(object.payload());
  const auto slot = of_this_process().slot_of(content);
  const std::lock_guard lock(slot->loading);
  if (auto living = slot->living.lock()) return living;
  auto loaded = folder.empty() ? load_from_memory(object) : load_from(folder, content, object);
  // Falls back to memory when the folder is not writable or forbids execution.
  if (!loaded && !folder.empty()) loaded = load_from_memory(object);
  if (loaded) slot->living = *loaded;
  return loaded;
}

expected<void*> loaded_module::find(const std::string& name) const {
  ::dlerror();
  void* address = ::dlsym(handle_->get(), name.c_str());
  if (const char* why = ::dlerror(); why || !address)
    return fail(errc::not_found, "no symbol " + name + " in a module" +
                                     (why ? std::string(": ") + why : std::string()));
  return address;
}

} // namespace hearth
