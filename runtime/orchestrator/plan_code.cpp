#include "runtime/orchestrator/plan_code.hpp"

#include "messages/autotune/comments.hpp"
#include "messages/value.hpp"
#include "runtime/fingerprints/files/file_view.hpp"
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

// A file that changes meanwhile counts with all its bytes.
std::string tuned_sources::part_of(const std::string& path, const digest& content) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = known_.find(content); at != known_.end()) return at->second;
  }
  const auto text = os::read_whole_file(path, max_source_bytes);
  const bool is_it = text && sha256(*text) == content;
  auto part = is_it ? sha256(normal_code(*text, syntax_of(path))).hex() : content.hex();
  const std::lock_guard lock(mutex_);
  return known_.try_emplace(content, std::move(part)).first->second;
}

std::string tuned_sources::identity_of(const fingerprints::source_closure& closure) {
  value::array parts;
  for (const auto& file : closure.files) {
    parts.emplace_back(file.name);
    const bool is_own = !file.name.starts_with('/');
    parts.emplace_back(
        is_own ? part_of(fingerprints::path_in(closure.directory, file.name), file.state.content)
               : file.state.content.hex());
  }
  return sha256(encode(value(std::move(parts)))).hex();
}

} // namespace hearth::orchestrator
