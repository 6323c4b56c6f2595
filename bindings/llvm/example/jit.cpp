// An ORC JIT whose objects come from a cache: the first process compiles, the next one finds.
//
//   llvm_jit STORE [COMPILES]
//
// STORE is the folder of the cache. Each compile appends a line to the file COMPILES.
#include <hearth/llvm.hpp>

#include <llvm/ADT/StringRef.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/InitLLVM.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <string>
#include <utility>

namespace {

constexpr int function_count = 200;

// int64_t step_N(int64_t x) { return ((x ^ N) * 31 + N) % 1000003; }
llvm::Function* add_step(llvm::Module& module, int number) {
  auto* const integer = llvm::Type::getInt64Ty(module.getContext());
  auto* const step = llvm::Function::Create(llvm::FunctionType::get(integer, {integer}, false),
                                            llvm::Function::ExternalLinkage,
                                            "step_" + std::to_string(number), module);
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(module.getContext(), "entry", step));
  auto* const n = at.getInt64(static_cast<std::uint64_t>(number));
  auto* const mixed = at.CreateMul(at.CreateXor(step->getArg(0), n), at.getInt64(31));
  at.CreateRet(at.CreateURem(at.CreateAdd(mixed, n), at.getInt64(1'000'003)));
  return step;
}

// `int64_t run(int64_t x)` calls every step with the result of the one before.
llvm::orc::ThreadSafeModule make_module() {
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("steps", *context);
  auto* const integer = llvm::Type::getInt64Ty(*context);
  auto* const run = llvm::Function::Create(llvm::FunctionType::get(integer, {integer}, false),
                                           llvm::Function::ExternalLinkage, "run", module.get());
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(*context, "entry", run));
  llvm::Value* x = run->getArg(0);
  for (int i = 0; i < function_count; ++i)
    x = at.CreateCall(add_step(*module, i), {x});
  at.CreateRet(x);
  return {std::move(module), std::move(context)};
}

// What the generated code computes, in C++.
std::int64_t expected_result(std::int64_t x) {
  for (std::int64_t i = 0; i < function_count; ++i)
    x = ((x ^ i) * 31 + i) % 1'000'003;
  return x;
}

// LLVM's compiler, which notes each compile in a file.
class noting_compiler : public llvm::orc::ConcurrentIRCompiler {
public:
  noting_compiler(llvm::orc::JITTargetMachineBuilder target, std::string file)
      : ConcurrentIRCompiler(std::move(target))
      , file_(std::move(file)) {}

  hearth::llvm_object operator()(llvm::Module& module) override {
    if (!file_.empty()) {
      std::error_code failed;
      llvm::raw_fd_ostream(file_, failed, llvm::sys::fs::OF_Append)
          << module.getModuleIdentifier() << '\n';
    }
    return ConcurrentIRCompiler::operator()(module);
  }

private:
  std::string file_;
};

// The address of a function: `lookup` returns a JITEvaluatedSymbol in LLVM 14, later an
// ExecutorAddr.
template <class Symbol>
std::uint64_t address_of(const Symbol& symbol) {
  if constexpr (requires { symbol.getAddress(); })
    return symbol.getAddress();
  else
    return symbol.getValue();
}

const char* told(const hearth::llvm_cache_counts& counts) {
  if (counts.compiles > 0) return "compiled";
  return counts.hits > 0 ? "hit" : "another process compiled";
}

} // namespace

int main(int argc, char** argv) {
  const llvm::InitLLVM init(argc, argv);
  if (argc < 2) return llvm::errs() << "usage: llvm_jit STORE [COMPILES]\n", 2;
  const std::string compiles = argc > 2 ? argv[2] : "";
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const llvm::ExitOnError check("llvm_jit: ");

  hearth::config settings;
  settings.store = argv[1];
  hearth::runtime rt(settings);
  const auto named = rt.open("objects");
  if (!named) return llvm::errs() << named.error().to_string() << '\n', 1;
  hearth::llvm_cache_options options;
  options.on_error = [](const hearth::error& why) { llvm::errs() << why.to_string() << '\n'; };
  const hearth::llvm_cache objects(*named, options);

  auto make_compiler = [&](llvm::orc::JITTargetMachineBuilder target)
      -> llvm::Expected<hearth::llvm_compiler::inner_compiler> {
    return std::make_unique<noting_compiler>(std::move(target), compiles);
  };
  auto jit =
      check(llvm::orc::LLJITBuilder()
                .setCompileFunctionCreator(hearth::llvm_compile_through(objects, make_compiler))
                .create());
  check(jit->addIRModule(make_module()));
  const auto address = address_of(check(jit->lookup("run")));
  auto* const run = reinterpret_cast<std::int64_t (*)(std::int64_t)>(address);

  const auto result = run(1);
  const auto counts = objects.counts();
  llvm::outs() << "run(1) = " << result << (result == expected_result(1) ? "" : ", which is wrong")
               << '\n'
               << told(counts) << '\n'
               << "saved " << counts.time_saved.count() / 1000 << " us\n";
  return result == expected_result(1) ? 0 : 1;
}
