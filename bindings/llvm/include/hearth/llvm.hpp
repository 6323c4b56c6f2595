// Hearth for programs that generate code with LLVM 14 or later (docs/llvm.md).
//
//   hearth::llvm_cache objects(*rt.open("objects"));
//   auto jit = llvm::orc::LLJITBuilder()
//                  .setCompileFunctionCreator(hearth::llvm_compile_through(objects))
//                  .create();
//
// Header only: the program links Hearth's runtime and its own LLVM.
#pragma once

#include <hearth/hearth.hpp>
#include <hearth/llvm/cache.hpp>
#include <hearth/llvm/compiler.hpp>
#include <hearth/llvm/file_cache.hpp>
#include <hearth/llvm/keys.hpp>
#include <hearth/llvm/object_cache.hpp>
