// The cache behind LLVM's ObjectCache interface: for MCJIT, and for ORC's SimpleCompiler.
#pragma once

#include <hearth/llvm/cache.hpp>
#include <hearth/llvm/keys.hpp>

#include <llvm/ExecutionEngine/ObjectCache.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace hearth {

/// An ObjectCache has two calls, and nothing tells it of a compile that fails between them, so it
/// cannot hold a lease. There are two forms:
///
/// With a compile function, `getObject` compiles a missing module itself, under the lease: one of
/// all callers, threads and processes compiles, the others wait. The engine compiles only if that
/// fails, and reports the error.
///
/// Without one, `getObject` looks up and `notifyObjectCompiled` inserts. Callers that miss at the
/// same time all compile; the first insert wins.
///
/// Any thread may call it; each module is used by one thread at a time.
class llvm_object_cache final : public llvm::ObjectCache {
public:
  /// Compiles a module, which it may change: `llvm::orc::SimpleCompiler(target)`.
  using compile_function = std::function<llvm_object(llvm::Module&)>;

  /// `target` is the machine that compiles the modules. It is used now only; `compile` is called by
  /// every thread that calls `getObject`.
  llvm_object_cache(llvm_cache objects, const llvm::TargetMachine& target,
                    compile_function compile = {})
      : objects_(std::move(objects))
      , keys_(target, objects_.options().salt, objects_.options().identity)
      , compile_(std::move(compile)) {}

  /// A module that is not fully materialized yet is a miss, and is not inserted later.
  std::unique_ptr<llvm::MemoryBuffer> getObject(const llvm::Module* module) override {
    if (!module->isMaterialized()) return nullptr;
    const auto k = keys_.of(*module);
    if (compile_) return compile_under_lease(k, *module);
    auto found = objects_.get(k, module->getModuleIdentifier());
    if (!found) announce(module, k);
    return found;
  }

  /// Inserts the object of a module that `getObject` missed. The key is the one from that call:
  /// compiling has changed the module since.
  void notifyObjectCompiled(const llvm::Module* module, llvm::MemoryBufferRef object) override {
    const auto missed = take(module);
    if (!missed) return;
    objects_.insert(missed->k, object.getBuffer(),
                    std::chrono::steady_clock::now() - missed->since);
  }

  llvm_cache_counts counts() const noexcept { return objects_.counts(); }

private:
  struct missed_module {
    key k;
    std::chrono::steady_clock::time_point since;
  };
  // Modules whose compile failed stay until their address is used again, or there are this many.
  static constexpr std::size_t max_missed = 1024;

  std::unique_ptr<llvm::MemoryBuffer> compile_under_lease(const key& k,
                                                          const llvm::Module& module) {
    auto made = objects_.get_or_compile(k, module.getModuleIdentifier(), [&] {
      const auto copy = llvm::CloneModule(module);
      return compile_(*copy);
    });
    if (made) return std::move(*made);
    // The engine compiles now, fails likewise and reports it.
    llvm::consumeError(made.takeError());
    return nullptr;
  }

  void announce(const llvm::Module* module, const key& k) {
    const std::lock_guard lock(mutex_);
    if (missed_.size() >= max_missed) drop_oldest();
    missed_.insert_or_assign(module, missed_module{k, std::chrono::steady_clock::now()});
  }
  void drop_oldest() {
    missed_.erase(
        std::min_element(missed_.begin(), missed_.end(), [](const auto& a, const auto& b) {
          return a.second.since < b.second.since;
        }));
  }
  std::optional<missed_module> take(const llvm::Module* module) {
    const std::lock_guard lock(mutex_);
    const auto at = missed_.find(module);
    if (at == missed_.end()) return std::nullopt;
    auto taken = std::move(at->second);
    missed_.erase(at);
    return taken;
  }

  llvm_cache objects_;
  llvm_module_keys keys_;
  compile_function compile_;
  std::mutex mutex_; // of `missed_`
  std::unordered_map<const llvm::Module*, missed_module> missed_;
};

} // namespace hearth
