#include "bindings/llvm/test/support.hpp"

#include <llvm/ExecutionEngine/ExecutionEngine.h>
#include <llvm/ExecutionEngine/MCJIT.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>

#include <atomic>
#include <doctest/doctest.h>
#include <utility>

namespace hearth::llvm_test {
namespace {

// Runs `answer` of a module in an MCJIT with this cache.
std::int64_t run_module(std::unique_ptr<llvm::Module> module, llvm::ObjectCache& objects) {
  const std::unique_ptr<llvm::ExecutionEngine> engine(
      llvm::EngineBuilder(std::move(module)).create(host_machine().release()));
  engine->setObjectCache(&objects);
  engine->finalizeObject();
  const auto address = engine->getFunctionAddress("answer");
  return reinterpret_cast<std::int64_t (*)()>(address)();
}

} // namespace

TEST_CASE("llvm object cache: MCJIT inserts what it compiled, and finds it") {
  auto rt = memory_runtime();
  const llvm_cache objects(*rt.open("objects"));
  const auto machine = host_machine();
  llvm_object_cache cached(objects, *machine);
  llvm::LLVMContext context;
  CHECK(run_module(make_module(context, 42), cached) == 42);
  CHECK(objects.counts().compiles == 1);
  CHECK(run_module(make_module(context, 42), cached) == 42);
  CHECK(run_module(make_module(context, 43), cached) == 43);
  const auto counts = cached.counts();
  CHECK(counts.hits == 1);
  CHECK(counts.compiles == 2);
  CHECK(counts.time_saved.count() > 0);
}

TEST_CASE("llvm object cache: with a compile function, a miss compiles under the lease") {
  auto rt = memory_runtime();
  const llvm_cache objects(*rt.open("objects"));
  const auto machine = host_machine();
  std::atomic<int> compiles{0};
  llvm_object_cache cached(objects, *machine, [&](llvm::Module& module) {
    ++compiles;
    return llvm::orc::SimpleCompiler(*machine)(module);
  });
  llvm::LLVMContext context;
  CHECK(run_module(make_module(context, 42), cached) == 42);
  CHECK(run_module(make_module(context, 42), cached) == 42);
  CHECK(compiles == 1);
  CHECK(cached.counts().hits == 1);
}

TEST_CASE("llvm object cache: when the compile function fails, the engine compiles") {
  auto rt = memory_runtime();
  const auto machine = host_machine();
  llvm_object_cache cached(*rt.open("objects"), *machine, [](llvm::Module&) -> llvm_object {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "no such instruction");
  });
  llvm::LLVMContext context;
  CHECK(run_module(make_module(context, 42), cached) == 42);
}

TEST_CASE(
    "llvm object cache: a module whose compile failed does not lend its key to the next at its "
    "address") {
  auto rt = memory_runtime();
  const llvm_cache objects(*rt.open("objects"));
  const auto machine = host_machine();
  llvm_object_cache cached(objects, *machine);
  llvm::LLVMContext context;
  const auto first = make_module(context, 1), second = make_module(context, 2);
  CHECK(cached.getObject(first.get()) == nullptr);
  // The same address, with another content.
  first->getFunction("answer")->deleteBody();
  CHECK(cached.getObject(first.get()) == nullptr);
  cached.notifyObjectCompiled(first.get(), llvm::MemoryBufferRef("declaration", "o"));
  CHECK(cached.getObject(make_module(context, 1).get()) == nullptr);
  CHECK(cached.getObject(first.get())->getBuffer() == "declaration");
  // Nothing is known of a module that nobody asked for.
  cached.notifyObjectCompiled(second.get(), llvm::MemoryBufferRef("unknown", "o"));
  CHECK(cached.getObject(second.get()) == nullptr);
}

} // namespace hearth::llvm_test
