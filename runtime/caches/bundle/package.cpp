#include "runtime/caches/bundle/package.hpp"

#include "runtime/caches/attachments/attachments.hpp"
#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/caches/bundle/bundle_file.hpp"
#include "runtime/handle/cache.hpp"
#include "runtime/handle/runtime.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

namespace hearth {
namespace {

constexpr std::string_view packages_cache = "packages";
constexpr std::array kinds{member_kind::object, member_kind::weights, member_kind::file};

std::optional<member_kind> kind_named(std::string_view name) {
  for (const auto kind : kinds)
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

key metadata_key(const std::string& package) { return key::tuple({package, "metadata", ""}); }
key member_key(const std::string& package, const package_member& one) {
  return key::tuple({package, to_string(one.kind), one.name});
}

expected<void> check(const package& from) {
  if (!is_inner_path(from.name))
    return fail(errc::invalid_argument, "a package cannot be called '" + from.name + "'");
  std::set<std::string_view> names;
  for (const auto& one : from.members)
    if (!is_inner_path(one.name) || !one.content || !names.insert(one.name).second)
      return fail(errc::invalid_argument, "package '" + from.name + "': '" + one.name +
                                              "' comes twice, is empty, or leads elsewhere");
  return {};
}

// The list of members, which tells whether a package is complete.
artifact encode_list(const package& from) {
  value::array members;
  for (const auto& one : from.members)
    members.push_back(value::array{to_string(one.kind), one.name});
  return artifact::make(encode(value{value::map{
      {"name", from.name}, {"metadata", from.metadata}, {"members", std::move(members)}}}));
}

std::optional<package_member> decode_member(const value& v) {
  const auto* items = v.as<value::array>();
  if (!items || items->size() != 2) return std::nullopt;
  const auto* kind = (*items)[0].as<std::string>();
  const auto* name = (*items)[1].as<std::string>();
  const auto known = kind ? kind_named(*kind) : std::nullopt;
  if (!known || !name || !is_inner_path(*name)) return std::nullopt;
  return package_member{*known, *name, {}};
}

// The package without its members' contents.
expected<package> decode_list(const artifact& kept) {
  const auto decoded = decode_value(kept.payload());
  const auto* name = decoded ? decoded->find("name") : nullptr;
  const auto* metadata = decoded ? decoded->find("metadata") : nullptr;
  const auto* members = decoded ? decoded->find("members") : nullptr;
  if (!name || !name->as<std::string>() || !metadata || !metadata->as<value::map>() || !members ||
      !members->as<value::array>())
    return fail(errc::malformed, "the package's list of members is malformed");
  package found{*name->as<std::string>(), *metadata->as<value::map>(), {}};
  if (!is_inner_path(found.name)) return fail(errc::malformed, "a package without a name");
  for (const auto& item : *members->as<value::array>()) {
    auto one = decode_member(item);
    if (!one) return fail(errc::malformed, "package '" + found.name + "': a member is none");
    found.members.push_back(std::move(*one));
  }
  return found;
}

// Verifies every byte and the signature.
expected<void> check_all(storage::bundle_reader& in, const storage::signing_keys& signed_by) {
  for (;;) {
    const auto head = in.next();
    if (!head) return fail(head.error());
    if (!*head) return check_signature(in.end(), signed_by);
  }
}

using contents = std::map<std::string, artifact>; // by encoded key

expected<contents> read_all(const std::string& file, const storage::signing_keys& signed_by) {
  auto bytes = os::rereadable_file::open(file);
  if (!bytes) return fail(bytes.error());
  storage::bundle_reader first(source_of(*bytes));
  if (auto whole = check_all(first, signed_by); !whole) return fail(whole.error());
  bytes->rewind();
  storage::bundle_reader in(source_of(*bytes), first.marks());
  contents all;
  for (;;) {
    const auto head = in.next();
    if (!head) return fail(head.error());
    if (!*head) return all;
    if ((*head)->cache != packages_cache) continue;
    auto value = read_artifact(in, **head);
    if (!value) return fail(value.error());
    all.insert_or_assign((*head)->key, std::move(*value));
  }
}

bool is_list(const std::string& key_bytes, const artifact& kept) {
  const auto found = decode_list(kept);
  return found && metadata_key(found->name).encoded() == key_bytes;
}

expected<package> package_in(const contents& all) {
  const artifact* list = nullptr;
  for (const auto& [name, kept] : all)
    if (is_list(name, kept)) list = &kept;
  if (!list) return fail(errc::malformed, "the bundle is no package");
  auto found = decode_list(*list);
  for (auto& one : found->members) {
    const auto at = all.find(member_key(found->name, one).encoded());
    if (at == all.end())
      return fail(errc::malformed,
                  "package '" + found->name + "': '" + one.name + "' is not in the bundle");
    one.content = at->second;
  }
  return found;
}

} // namespace

std::string_view to_string(member_kind kind) noexcept {
  switch (kind) {
  case member_kind::object: return "object";
  case member_kind::weights: return "weights";
  case member_kind::file: return "file";
  }
  return "unknown";
}

expected<void> write_package(const package& from, const std::string& file,
                             const storage::signing_keys& sign) {
  if (auto good = check(from); !good) return good;
  const auto id = cache_id::make(packages_cache);
  const auto named = std::make_shared<const named_cache>(named_cache{*id, 0, id->seed()});
  recording all;
  const auto add = [&](const key& name, const artifact& content) {
    all.artifacts.push_back({"entry", cache_key(named, name.encoded()), content});
  };
  add(metadata_key(from.name), encode_list(from));
  for (const auto& one : from.members)
    add(member_key(from.name, one), one.content);
  if (auto written = write_bundle(all, file, sign); !written) return fail(written.error());
  return {};
}

expected<package> read_package(const std::string& file, const storage::signing_keys& signed_by) {
  const auto all = read_all(file, signed_by);
  if (!all) return fail(all.error().within(file));
  auto found = package_in(*all);
  return found ? std::move(found) : fail(found.error().within(file));
}

expected<std::optional<package>> find_package(runtime& in, const std::string& name) {
  const auto entries = in.open_apart(*cache_id::make(packages_cache));
  const auto list = entries.get(metadata_key(name));
  if (!list) return fail(list.error());
  if (!list->hit()) return std::nullopt;
  auto found = decode_list(list->value);
  if (!found) return fail(found.error());
  for (auto& one : found->members) {
    auto content = entries.get(member_key(name, one));
    if (!content) return fail(content.error());
    if (!content->hit()) return std::nullopt;
    one.content = std::move(content->value);
  }
  return std::optional(std::move(*found));
}

expected<std::filesystem::path> materialize_package(const package& from,
                                                    const std::filesystem::path& base) {
  if (auto good = check(from); !good) return fail(good.error());
  attachment files{from.name, {}};
  for (const auto& one : from.members)
    files.files.push_back(
        {one.name, std::string(one.content.payload()), one.kind == member_kind::object, {}});
  if (auto put = put_back(files, base); !put) return fail(put.error());
  return base / from.name;
}

} // namespace hearth
