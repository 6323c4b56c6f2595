// The keys of compiled modules. Plain values, any thread; a module is used by one thread at a time.
#pragma once

#include <hearth/hearth.hpp>
#include <hearth/keys.hpp>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth {

/// The name of a module's content that the caller already has, such as a hash of the source that it
/// was made from; empty: the SHA-256 of its bitcode.
using llvm_module_identity = std::function<std::optional<std::string>(const llvm::Module&)>;

namespace detail {

/// The members of `llvm::TargetOptions` that change the object, by name. A member that this version
/// of LLVM lacks is left out; the version is part of the key.
template <class Options>
key_field::map fields_of_target_options(const Options& from) {
  key_field::map fields;
#define HEARTH_FIELD(name)                                                                         \
  if constexpr (requires { static_cast<std::int64_t>(from.name); })                                \
    fields.emplace(#name, key_field(static_cast<std::int64_t>(from.name)));
  HEARTH_FIELD(UnsafeFPMath)
  HEARTH_FIELD(NoInfsFPMath)
  HEARTH_FIELD(NoNaNsFPMath)
  HEARTH_FIELD(NoTrappingFPMath)
  HEARTH_FIELD(NoSignedZerosFPMath)
  HEARTH_FIELD(ApproxFuncFPMath)
  HEARTH_FIELD(EnableAIXExtendedAltivecABI)
  HEARTH_FIELD(HonorSignDependentRoundingFPMathOption)
  HEARTH_FIELD(NoZerosInBSS)
  HEARTH_FIELD(GuaranteedTailCallOpt)
  HEARTH_FIELD(StackSymbolOrdering)
  HEARTH_FIELD(EnableFastISel)
  HEARTH_FIELD(EnableGlobalISel)
  HEARTH_FIELD(GlobalISelAbort)
  HEARTH_FIELD(SwiftAsyncFramePointer)
  HEARTH_FIELD(UseInitArray)
  HEARTH_FIELD(DisableIntegratedAS)
  HEARTH_FIELD(CompressDebugSections)
  HEARTH_FIELD(RelaxELFRelocations)
  HEARTH_FIELD(FunctionSections)
  HEARTH_FIELD(DataSections)
  HEARTH_FIELD(IgnoreXCOFFVisibility)
  HEARTH_FIELD(XCOFFTracebackTable)
  HEARTH_FIELD(XCOFFReadOnlyPointers)
  HEARTH_FIELD(UniqueSectionNames)
  HEARTH_FIELD(UniqueBasicBlockSectionNames)
  HEARTH_FIELD(SeparateNamedSections)
  HEARTH_FIELD(TrapUnreachable)
  HEARTH_FIELD(NoTrapAfterNoreturn)
  HEARTH_FIELD(TLSSize)
  HEARTH_FIELD(EmulatedTLS)
  HEARTH_FIELD(ExplicitEmulatedTLS)
  HEARTH_FIELD(EnableTLSDESC)
  HEARTH_FIELD(EnableIPRA)
  HEARTH_FIELD(EmitStackSizeSection)
  HEARTH_FIELD(EnableMachineOutliner)
  HEARTH_FIELD(EnableMachineFunctionSplitter)
  HEARTH_FIELD(SupportsDefaultOutlining)
  HEARTH_FIELD(EmitAddrsig)
  HEARTH_FIELD(BBAddrMap)
  HEARTH_FIELD(BBSections)
  HEARTH_FIELD(EmitCallSiteInfo)
  HEARTH_FIELD(SupportsDebugEntryValues)
  HEARTH_FIELD(EnableDebugEntryValues)
  HEARTH_FIELD(ValueTrackingVariableLocations)
  HEARTH_FIELD(ForceDwarfFrameSection)
  HEARTH_FIELD(XRayOmitFunctionIndex)
  HEARTH_FIELD(XRayFunctionIndex)
  HEARTH_FIELD(DebugStrictDwarf)
  HEARTH_FIELD(Hotpatch)
  HEARTH_FIELD(PPCGenScalarMASSEntries)
  HEARTH_FIELD(JMCInstrument)
  HEARTH_FIELD(EnableCFIFixup)
  HEARTH_FIELD(MisExpect)
  HEARTH_FIELD(LoopAlignment)
  HEARTH_FIELD(FloatABIType)
  HEARTH_FIELD(AllowFPOpFusion)
  HEARTH_FIELD(ThreadModel)
  HEARTH_FIELD(EABIVersion)
  HEARTH_FIELD(DebuggerTuning)
  HEARTH_FIELD(ExceptionModel)
  HEARTH_FIELD(BinutilsVersion.first)
  HEARTH_FIELD(BinutilsVersion.second)
  HEARTH_FIELD(MCOptions.MCRelaxAll)
  HEARTH_FIELD(MCOptions.MCNoExecStack)
  HEARTH_FIELD(MCOptions.MCNoTypeCheck)
  HEARTH_FIELD(MCOptions.MCSaveTempLabels)
  HEARTH_FIELD(MCOptions.MCUseDwarfDirectory)
  HEARTH_FIELD(MCOptions.MCIncrementalLinkerCompatible)
  HEARTH_FIELD(MCOptions.FDPIC)
  HEARTH_FIELD(MCOptions.Dwarf64)
  HEARTH_FIELD(MCOptions.Crel)
  HEARTH_FIELD(MCOptions.X86RelaxRelocations)
  HEARTH_FIELD(MCOptions.X86Sse2Avx)
  HEARTH_FIELD(MCOptions.EmitDwarfUnwind)
  HEARTH_FIELD(MCOptions.DwarfVersion)
  HEARTH_FIELD(MCOptions.CompressDebugSections)
  HEARTH_FIELD(MCOptions.EmitCompactUnwindNonCanonical)
#undef HEARTH_FIELD
  fields.emplace("MCOptions.ABIName", key_field(from.MCOptions.ABIName));
  fields.emplace("MCOptions.SplitDwarfFile", key_field(from.MCOptions.SplitDwarfFile));
  if (from.BBSectionsFuncListBuf)
    fields.emplace("BBSectionsFuncListBuf",
                   key_field(from.BBSectionsFuncListBuf->getBuffer().str()));
  if constexpr (requires { from.getRawFPDenormalMode(); }) {
    fields.emplace("FPDenormalMode", key_field(from.getRawFPDenormalMode().str()));
    fields.emplace("FP32DenormalMode", key_field(from.getRawFP32DenormalMode().str()));
  }
  return fields;
}

inline digest sha256_of_bitcode(const llvm::Module& module) {
  llvm::SmallVector<char, 0> bitcode;
  bitcode.reserve(std::size_t{64} << 10);
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(module, out);
  return sha256({bitcode.data(), bitcode.size()});
}

} // namespace detail

/// Makes the keys of modules that one target machine compiles. A key holds LLVM's version, the
/// target with its options, the salt, and the module's bitcode or identity (docs/llvm.md).
class llvm_module_keys {
public:
  /// `salt`: whatever else decides what the object is, such as the version of the caller's passes.
  explicit llvm_module_keys(const llvm::TargetMachine& target, std::string_view salt = {},
                            llvm_module_identity identity = {})
      : details_(details_of(target, salt))
      , target_key_(key::text(key_of_details(details_)->text()))
      , identity_(std::move(identity)) {}

  /// The key of a module, which is fully materialized. Call it before the module is compiled: that
  /// changes it.
  key of(const llvm::Module& module) const {
    return key::tuple({key::text("llvm object"), target_key_, content_of(module)});
  }

  /// What the keys hold besides the module; `debug_lines` shows it a line a field.
  const key_field& details() const noexcept { return details_; }

private:
  static key_field details_of(const llvm::TargetMachine& target, std::string_view salt) {
    key_field::map fields;
    fields.emplace("llvm", LLVM_VERSION_STRING);
    fields.emplace("triple", target.getTargetTriple().str());
    fields.emplace("cpu", target.getTargetCPU().str());
    fields.emplace("features", target.getTargetFeatureString().str());
    fields.emplace("optimization", static_cast<int>(target.getOptLevel()));
    fields.emplace("relocation model", static_cast<int>(target.getRelocationModel()));
    fields.emplace("code model", static_cast<int>(target.getCodeModel()));
    fields.emplace("options", detail::fields_of_target_options(target.Options));
    fields.emplace("salt", salt);
    return key_field(std::move(fields));
  }

  // A text and bytes are different keys, so an identity never equals a hash.
  key content_of(const llvm::Module& module) const {
    if (identity_)
      if (const auto name = identity_(module)) return key::text(*name);
    return key::bytes(detail::sha256_of_bitcode(module).view());
  }

  key_field details_;
  key target_key_;
  llvm_module_identity identity_;
};

} // namespace hearth
