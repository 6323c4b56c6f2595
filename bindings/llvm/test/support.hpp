// What the tests of the binding share: a runtime without a store, modules, target machines.
#pragma once

#include <hearth/llvm.hpp>

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <memory>
#include <string>

namespace hearth::llvm_test {

inline runtime memory_runtime() {
  config settings;
  settings.memory_budget_bytes = std::uint64_t{16} << 20;
  return runtime(settings);
}

/// A module with one function, `int64_t name() { return number; }`.
inline std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, std::int64_t number,
                                                 const std::string& name = "answer") {
  auto module = std::make_unique<llvm::Module>("module_" + name, context);
  auto* const type = llvm::FunctionType::get(llvm::Type::getInt64Ty(context), false);
  auto* const made =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module.get());
  llvm::IRBuilder<> at(llvm::BasicBlock::Create(context, "entry", made));
  at.CreateRet(at.getInt64(static_cast<std::uint64_t>(number)));
  return module;
}

inline llvm::orc::JITTargetMachineBuilder host_target() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  return llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
}

inline std::unique_ptr<llvm::TargetMachine> host_machine() {
  return llvm::cantFail(host_target().createTargetMachine());
}

} // namespace hearth::llvm_test
