// The compiler of ORC's IRCompileLayer, with a cache in front of it.
#pragma once

#include <hearth/llvm/cache.hpp>
#include <hearth/llvm/keys.hpp>

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/IRCompileLayer.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Error.h>

#include <functional>
#include <memory>
#include <utility>

namespace hearth {

/// Compiles a module by `inner`, unless its object is there; one of all callers, threads and
/// processes compiles it, the others wait for the object. As thread-safe as `inner`.
class llvm_compiler final : public llvm::orc::IRCompileLayer::IRCompiler {
public:
  using inner_compiler = std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>;

  /// `keys` is of the target machine that `inner` compiles for.
  llvm_compiler(llvm_cache objects, llvm_module_keys keys, inner_compiler inner)
      : IRCompiler(inner->getManglingOptions())
      , objects_(std::move(objects))
      , keys_(std::move(keys))
      , inner_(std::move(inner)) {}

  llvm_object operator()(llvm::Module& module) override {
    if (auto why = module.materializeAll()) return llvm_object(std::move(why));
    return objects_.get_or_compile(keys_.of(module), module.getModuleIdentifier(),
                                   [&] { return (*inner_)(module); });
  }

private:
  llvm_cache objects_;
  llvm_module_keys keys_;
  inner_compiler inner_;
};

/// Makes the compiler behind the cache, for a target.
using llvm_compiler_maker = std::function<llvm::Expected<llvm_compiler::inner_compiler>(
    llvm::orc::JITTargetMachineBuilder)>;

/// For `LLJITBuilder::setCompileFunctionCreator`: a compiler of the JIT's target with the cache in
/// front. `make_inner` makes the one behind it; empty: LLVM's ConcurrentIRCompiler.
inline llvm_compiler_maker llvm_compile_through(llvm_cache objects,
                                                llvm_compiler_maker make_inner = {}) {
  return [objects = std::move(objects),
          make_inner = std::move(make_inner)](llvm::orc::JITTargetMachineBuilder target)
             -> llvm::Expected<llvm_compiler::inner_compiler> {
    auto machine = target.createTargetMachine();
    if (!machine) return machine.takeError();
    llvm_module_keys keys(**machine, objects.options().salt, objects.options().identity);
    llvm_compiler::inner_compiler inner;
    if (make_inner) {
      auto made = make_inner(std::move(target));
      if (!made) return made.takeError();
      inner = std::move(*made);
    } else {
      inner = std::make_unique<llvm::orc::ConcurrentIRCompiler>(std::move(target));
    }
    return std::make_unique<llvm_compiler>(objects, std::move(keys), std::move(inner));
  };
}

} // namespace hearth
