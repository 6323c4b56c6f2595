#include "runtime/fingerprints/toolchain/toolchain_key.hpp"

#include "runtime/fingerprints/contents.hpp"
#include "runtime/os/find_program.hpp"

namespace hearth::fingerprints {
namespace {

namespace fs = std::filesystem;

expected<void> add(key_field::map& to, std::string name, expected<key_field> part) {
  if (!part) return fail(part.error());
  if (!to.emplace(name, std::move(*part)).second)
    return fail(errc::invalid_argument, "two parts of a toolchain are named '" + name + "'");
  return {};
}

expected<key_field> file_part(const fs::path& path) {
  auto content = field_of_file(path);
  if (!content) return fail(content.error());
  return key_field(*content);
}

expected<key_field> tree_part(const source_tree& tree) {
  auto files = field_of_tree(tree.folder, tree.suffixes);
  if (!files) return fail(files.error());
  return key_field(std::move(*files));
}

expected<key_field> compiler_part(const std::string& name) {
  const auto path = os::find_program(name, os::search_path(), "");
  if (!path) return fail(path.error());
  return file_part(*path);
}

} // namespace

expected<key_field> toolchain_details(const toolchain_parts& parts) {
  key_field::map compilers;
  key_field::map trees;
  key_field::map files;
  expected<void> done;
  for (const auto& name : parts.compilers)
    if (done) done = add(compilers, name, compiler_part(name));
  for (const auto& tree : parts.trees)
    if (done) done = add(trees, tree.name, tree_part(tree));
  for (const auto& file : parts.files)
    if (done) done = add(files, file.filename().string(), file_part(file));
  for (const auto& [name, identity] : parts.identities)
    if (done) done = add(compilers, name, key_field(identity.hex()));
  if (!done) return fail(done.error());
  return key_field(key_field::map{
      {"version", parts.version},
      {"compilers", std::move(compilers)},
      {"flags", key_field::list(parts.flags.begin(), parts.flags.end())},
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

} // namespace hearth::fingerprints
