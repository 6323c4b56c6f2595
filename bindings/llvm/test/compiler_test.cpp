#include "bindings/llvm/test/support.hpp"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

namespace hearth::llvm_test {
namespace {

// Counts its compiles, and calls `before` in each; fails while `failing` is set.
class counting_compiler : public llvm::orc::ConcurrentIRCompiler {
public:
  struct state {
    std::atomic<int> compiles{0};
    std::atomic<bool> failing{false};
    std::function<void()> before{};
  };
  explicit counting_compiler(state& of)
      : ConcurrentIRCompiler(host_target())
      , state_(of) {}

  llvm_object operator()(llvm::Module& module) override {
    ++state_.compiles;
    if (state_.before) state_.before();
    if (state_.failing)
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "no such instruction");
    return ConcurrentIRCompiler::operator()(module);
  }

private:
  state& state_;
};

llvm_compiler compiler_over(const llvm_cache& objects, counting_compiler::state& state) {
  return {objects, llvm_module_keys(*host_machine()), std::make_unique<counting_compiler>(state)};
}

} // namespace

TEST_CASE("llvm compiler: threads that compile one module at once compile it once") {
  auto rt = memory_runtime();
  const llvm_cache objects(*rt.open("objects"));
  counting_compiler::state state;
  auto compile = compiler_over(objects, state);
  std::vector<std::thread> threads;
  std::atomic<int> objects_made{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      llvm::LLVMContext context;
      const auto object = llvm::cantFail(compile(*make_module(context, 1)));
      objects_made += object->getBufferSize() > 0;
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(state.compiles == 1);
  CHECK(objects_made == 8);
  const auto counts = objects.counts();
  CHECK(counts.compiles == 1);
  CHECK(counts.hits + counts.waits == 7);
  CHECK(counts.time_saved.count() > 0);
}

TEST_CASE("llvm compiler: a compile that fails gives its error, and the next call compiles") {
  auto rt = memory_runtime();
  const llvm_cache objects(*rt.open("objects"));
  counting_compiler::state state;
  auto compile = compiler_over(objects, state);
  llvm::LLVMContext context;
  state.failing = true;
  auto failed = compile(*make_module(context, 1));
  REQUIRE(!failed);
  CHECK(llvm::toString(failed.takeError()) == "no such instruction");
  CHECK(objects.counts().errors == 0);
  state.failing = false;
  CHECK(llvm::cantFail(compile(*make_module(context, 1)))->getBufferSize() > 0);
  CHECK(state.compiles == 2);
}

TEST_CASE("llvm compiler: a caller with a deadline does not wait for another's compile longer") {
  auto rt = memory_runtime();
  const llvm_cache patient(*rt.open("objects"));
  std::binary_semaphore began(0), go_on(0);
  counting_compiler::state slow, own;
  slow.before = [&] {
    began.release();
    go_on.acquire();
  };
  std::thread holder([&] {
    llvm::LLVMContext context;
    llvm::cantFail(compiler_over(patient, slow)(*make_module(context, 1)));
  });
  began.acquire();
  std::atomic<int> reported{0};
  llvm_cache_options options;
  options.limits = options.limits.within(std::chrono::milliseconds(1));
  options.on_error = [&](const error& why) { reported += why.code() == errc::timeout; };
  const llvm_cache impatient(patient.objects(), options);
  llvm::LLVMContext context;
  llvm::cantFail(compiler_over(impatient, own)(*make_module(context, 1)));
  go_on.release();
  holder.join();
  CHECK(own.compiles == 1);
  CHECK(reported == 1);
  CHECK(slow.compiles == 1);
}

TEST_CASE("llvm compiler: when the runtime is shut down, modules are compiled and it is reported") {
  auto rt = memory_runtime();
  std::atomic<int> reported{0};
  llvm_cache_options options;
  options.on_error = [&](const error& why) { reported += why.code() == errc::closed; };
  const llvm_cache objects(*rt.open("objects"), options);
  rt.shutdown();
  counting_compiler::state state;
  auto compile = compiler_over(objects, state);
  llvm::LLVMContext context;
  CHECK(llvm::cantFail(compile(*make_module(context, 1)))->getBufferSize() > 0);
  CHECK(reported == 1);
  CHECK(objects.counts().errors == 1);
}

} // namespace hearth::llvm_test
