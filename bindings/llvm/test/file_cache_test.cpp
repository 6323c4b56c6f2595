#include "bindings/llvm/test/support.hpp"

#include <llvm/Analysis/ModuleSummaryAnalysis.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/LTO/LTO.h>
#include <llvm/Support/Threading.h>

#include <doctest/doctest.h>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

namespace hearth::llvm_test {
namespace {

// The bitcode of a module, with the summary that ThinLTO needs.
std::string thin_bitcode(std::int64_t number, const std::string& name) {
  llvm::LLVMContext context;
  const auto module = make_module(context, number, name);
  const auto machine = host_machine();
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  llvm::ProfileSummaryInfo profile(*module);
  const auto index = llvm::buildModuleSummaryIndex(*module, nullptr, &profile);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::WriteBitcodeToFile(*module, out, false, &index, true);
  return {bytes.data(), bytes.size()};
}

// Links the modules; returns the objects by their number in the link.
std::map<unsigned, std::string> link(const std::map<std::string, std::string>& bitcodes,
                                     const llvm_cache& objects) {
  std::map<unsigned, std::string> linked;
  std::mutex mutex;
  auto add_buffer = [&](unsigned task, const auto&... rest) {
    const auto& object = std::get<sizeof...(rest) - 1>(std::tie(rest...));
    const std::lock_guard lock(mutex);
    linked[task] = object->getBuffer().str();
  };
  llvm::lto::Config settings;
  settings.CPU = "x86-64";
  llvm::lto::LTO lto(std::move(settings),
                     llvm::lto::createInProcessThinBackend(llvm::hardware_concurrency(2)));
  for (const auto& [name, bytes] : bitcodes) {
    auto input = llvm::cantFail(llvm::lto::InputFile::create(llvm::MemoryBufferRef(bytes, name)));
    std::vector<llvm::lto::SymbolResolution> resolutions(input->symbols().size());
    for (auto& resolution : resolutions) {
      resolution.Prevailing = true;
      resolution.VisibleToRegularObj = true;
    }
    llvm::cantFail(lto.add(std::move(input), resolutions));
  }
  // The combined module of regular LTO, which is not cached.
  auto add_stream = [](unsigned,
                       const auto&...) -> llvm::Expected<std::unique_ptr<llvm::CachedFileStream>> {
    return std::make_unique<llvm::CachedFileStream>(std::make_unique<llvm::raw_null_ostream>());
  };
  llvm::cantFail(lto.run(add_stream, llvm_file_cache(objects, add_buffer)));
  return linked;
}

} // namespace

TEST_CASE("llvm file cache: ThinLTO compiles what changed and finds the rest") {
  host_target(); // registers it
  auto rt = memory_runtime();
  const llvm_cache objects(*rt.open("lto"));
  std::map<std::string, std::string> bitcodes{{"a.bc", thin_bitcode(1, "a")},
                                              {"b.bc", thin_bitcode(2, "b")}};
  const auto cold = link(bitcodes, objects);
  CHECK(cold.size() == 2);
  CHECK(objects.counts().compiles == 2);
  CHECK(objects.counts().hits == 0);

  CHECK(link(bitcodes, objects) == cold);
  CHECK(objects.counts().compiles == 2);
  CHECK(objects.counts().hits == 2);

  bitcodes["b.bc"] = thin_bitcode(3, "b");
  CHECK(link(bitcodes, objects) != cold);
  CHECK(objects.counts().compiles == 3);
  CHECK(objects.counts().hits == 3);
}

} // namespace hearth::llvm_test
