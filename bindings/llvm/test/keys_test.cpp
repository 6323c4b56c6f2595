#include "bindings/llvm/test/support.hpp"

#include <doctest/doctest.h>

namespace hearth::llvm_test {

TEST_CASE("llvm keys: equal modules in two contexts have one key, other modules another") {
  const auto machine = host_machine();
  const llvm_module_keys keys(*machine);
  llvm::LLVMContext one, two;
  const auto module = make_module(one, 1);
  CHECK(keys.of(*module) == keys.of(*make_module(two, 1)));
  CHECK(keys.of(*module) != keys.of(*make_module(two, 2)));
}

TEST_CASE("llvm keys: the target, its options and the salt are part of them") {
  llvm::LLVMContext context;
  const auto module = make_module(context, 1);
  const auto key_for = [&](auto change) {
    auto target = host_target();
    change(target);
    return llvm_module_keys(*llvm::cantFail(target.createTargetMachine())).of(*module);
  };
  const auto plain = key_for([](auto&) {});
  CHECK(plain == key_for([](auto&) {}));
  CHECK(plain != key_for([](auto& target) { target.setCPU("x86-64"); }));
  CHECK(plain != key_for([](auto& target) { target.addFeatures({"-sse4.2"}); }));
  // The defaults of a JIT on x86-64 are static relocations and the large code model.
  CHECK(plain != key_for([](auto& target) { target.setRelocationModel(llvm::Reloc::PIC_); }));
  CHECK(plain != key_for([](auto& target) { target.setCodeModel(llvm::CodeModel::Small); }));
  CHECK(plain != key_for([](auto& target) { target.getOptions().FunctionSections = true; }));
  CHECK(plain != key_for([](auto& target) { target.getOptions().EmulatedTLS ^= 1; }));
  CHECK(plain != llvm_module_keys(*host_machine(), "passes 2").of(*module));
}

TEST_CASE("llvm keys: an identity stands for the bitcode, where the caller has one") {
  llvm::LLVMContext context;
  const auto machine = host_machine();
  const llvm_module_keys keys(*machine, {}, [](const llvm::Module& module) {
    const auto name = module.getModuleIdentifier();
    return name == "module_known" ? std::optional<std::string>("source 7") : std::nullopt;
  });
  CHECK(keys.of(*make_module(context, 1, "known")) == keys.of(*make_module(context, 2, "known")));
  CHECK(keys.of(*make_module(context, 1)) != keys.of(*make_module(context, 2)));
}

} // namespace hearth::llvm_test
