#include "runtime/orchestrator/plan_code.hpp"

#include "messages/autotune/comments.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <cstddef>
#include <filesystem>
#include <set>

namespace hearth::orchestrator {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_source_bytes = std::size_t{64} << 20;

// The stripped text after its length, so that the concatenation of several is unambiguous.
std::string stripped_part(const fs::path& path, comment_syntax syntax) {
  const auto text = os::read_whole_file(path, max_source_bytes).value_or("");
  const auto stripped = strip_comments(text, syntax);
  return std::to_string(stripped.size()) + ":" + stripped;
}

// A source with an unknown extension counts as C++, which plans compile.
comment_syntax syntax_of(const fs::path& source) {
  const auto known = comment_syntax_of(source.extension().string());
  return known == comment_syntax::none ? comment_syntax::slashes : known;
}

} // namespace

std::string code_hash_of(const plan& work) {
  auto code = stripped_part(work.path, comment_syntax::hash);
  std::set<std::string> sources;
  for (const auto& kernel : work.kernels)
    sources.insert(kernel.source);
  for (const auto& source : sources)
    code += stripped_part(fs::path(work.directory) / source, syntax_of(source));
  return comment_stripped_hash(code, comment_syntax::none);
}

} // namespace hearth::orchestrator
