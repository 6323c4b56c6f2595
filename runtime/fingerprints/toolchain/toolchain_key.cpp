#include "runtime/fingerprints/toolchain/toolchain_key.hpp"

#include "runtime/fingerprints/contents.hpp"
#include "runtime/os/find_program.hpp"

namespace hearth {
namespace {

namespace fs = std::filesystem;

expected<void> add(detail::map& to, std::string name, expected<detail> part) {
  if (!part) return fail(part.error());
  if (!to.emplace(name, std::move(*part)).second)
    return fail(errc::invalid_argument, "two parts of a toolchain are named '" + name + "'");
  return {};
}

expected<detail> file_part(const fs::path& path) {
  auto content = detail_of_file(path);
  if (!content) return fail(content.error());
  return detail(*content);
}

expected<detail> tree_part(const source_tree& tree) {
  auto files = detail_of_tree(tree.folder, tree.suffixes);
  if (!files) return fail(files.error());
  return detail(std::move(*files));
}

expected<detail> compiler_part(const std::string& name) {
  const auto path = find_program(name, search_path(), "");
  if (!path)
    return fail(errc::not_found, "there is no compiler '" + name + "' in PATH; install it");
  return file_part(*path);
}

} // namespace

expected<detail> toolchain_details(const toolchain_parts& parts) {
  detail::map compilers;
  detail::map trees;
  detail::map files;
  expected<void> done;
  for (const auto& name : parts.compilers)
    if (done) done = add(compilers, name, compiler_part(name));
  for (const auto& tree : parts.trees)
    if (done) done = add(trees, tree.name, tree_part(tree));
  for (const auto& file : parts.files)
    if (done) done = add(files, file.filename().string(), file_part(file));
  if (!done) return fail(done.error());
  return detail(detail::map{
      {"version", parts.version},
      {"compilers", std::move(compilers)},
      {"flags", detail::list(parts.flags.begin(), parts.flags.end())},
      {"trees", std::move(trees)},
      {"files", std::move(files)},
  });
}

expected<digest> toolchain_key::get() {
  const std::lock_guard lock(guard_);
  if (known_) return *known_;
  const auto details = toolchain_details(parts_);
  if (!details) return fail(details.error());
  known_ = sha256(encode(*details));
  return *known_;
}

void toolchain_key::set(digest known) {
  const std::lock_guard lock(guard_);
  known_ = known;
}

void toolchain_key::clear() {
  const std::lock_guard lock(guard_);
  known_.reset();
}

} // namespace hearth
