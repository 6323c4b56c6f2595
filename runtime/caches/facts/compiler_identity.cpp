#include "runtime/caches/facts/compiler_identity.hpp"

#include "runtime/caches/facts/cache_memo.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
#include "runtime/fingerprints/toolchain/toolchain.hpp"
#include "runtime/handle/internals.hpp"

#include <utility>

namespace hearth {

expected<compiler_identity> identify_compiler(runtime& in, const std::string& compiler,
                                              const std::vector<std::string>& flags,
                                              const std::filesystem::path& folder) {
  auto& core = internals::core(in);
  if (auto no = core.refusal()) return fail(*no);
  auto facts = cache_memo::open(in);
  if (!facts) return fail(facts.error());
  fingerprints::toolchain_request request;
  request.compiler = compiler;
  request.directory = folder.string();
  request.flags = flags;
  request.variables = fingerprints::host_variables();
  fingerprints::file_view files;
  auto found = fingerprints::identify(request, files, core.processes(), *facts, core.stop_token());
  if (!found) return fail(found.error());
  if (!found->understood)
    return fail(errc::unsupported, found->compiler + ": it does not answer like GCC or Clang; put "
                                                     "its content into the key instead");
  auto details = found->details();
  return compiler_identity{std::move(found->compiler), std::move(found->version),
                           std::move(found->target), found->identity, std::move(details)};
}

} // namespace hearth
