#include "runtime/caches/facts/key_history.hpp"

#include "messages/digest.hpp"
#include "messages/member_set.hpp"
#include "messages/protocol.hpp"
#include "runtime/engine/calls/ask_actor.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/fingerprints/kept_details.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/os/files/pending_file.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <filesystem>
#include <optional>
#include <type_traits>
#include <utility>

namespace hearth {
namespace {

constexpr set_limits kept_keys{16, std::size_t{1} << 20};
constexpr std::string_view last_misses = "last_misses"; // the file of the store
constexpr std::size_t max_file_bytes = std::size_t{4} << 20;

// What the misses of a run may still take.
struct last_limits {
  std::size_t lines = 1000;
  std::size_t bytes = std::size_t{1} << 20;

  bool take(std::size_t line_bytes) {
    if (lines == 0 || bytes < line_bytes) return false;
    --lines;
    bytes -= line_bytes;
    return true;
  }
};

key name_of_subject(std::string_view subject) {
  return key::tuple({key("keys"), key(std::string(subject))});
}

// Adds the lines to those that fit.
value::array texts_within(const std::vector<std::string>& lines, last_limits& left) {
  value::array all;
  for (const auto& line : lines) {
    if (!left.take(line.size())) break;
    all.emplace_back(line);
  }
  return all;
}

error unreadable(const std::filesystem::path& file) {
  return {errc::malformed, file.string() + " does not hold the misses of a run; the next run that "
                                           "misses something writes it anew"};
}

std::optional<explained_miss> miss_of(const value& stored) {
  const auto* what = stored.find("what");
  const auto* lines = stored.find("lines");
  const auto* name = what ? what->as<std::string>() : nullptr;
  const auto* texts = lines ? lines->as<value::array>() : nullptr;
  if (!name || !texts) return std::nullopt;
  explained_miss one{*name, {}};
  for (const auto& text : *texts)
    if (const auto* line = text.as<std::string>()) one.lines.push_back(*line);
  return one;
}

} // namespace

std::vector<std::string> lines_of(const key_miss& miss) {
  std::vector<std::string> lines;
  for (const auto& one : miss.differences) {
    if (one.kind == difference_kind::only_first)
      lines.push_back(one.path + ": gone: " + one.first);
    else if (one.kind == difference_kind::only_second)
      lines.push_back(one.path + ": new: " + one.second);
    else
      lines.push_back(one.line());
  }
  return lines;
}

expected<key_history> key_history::open(runtime& in) {
  auto entries = in.open("key_details", cache_options().without_memory().without_remote());
  if (!entries) return fail(entries.error());
  return key_history(std::move(*entries));
}

expected<key_miss> key_history::explain(std::string_view subject, const key_field& wanted) const {
  const auto found = entries_.get(name_of_subject(subject));
  if (!found) return fail(found.error());
  if (!found->hit()) return key_miss{};
  const auto known = decode_members(found->value.payload());
  if (!known) return key_miss{};
  key_miss nearest;
  std::int64_t stamp = -1;
  for (const auto& member : known->members()) {
    const auto details = fingerprints::unpack_details(member.content);
    if (!details) continue; // of another version
    auto differences = hearth::explain(*details, wanted);
    const auto size = differences.size();
    const auto least = nearest.differences.size();
    const bool is_nearer =
        nearest.known++ == 0 || size < least || (size == least && member.stamp > stamp);
    if (!is_nearer) continue;
    stamp = member.stamp;
    nearest.differences = std::move(differences);
  }
  return nearest;
}

expected<void> key_history::note(std::string_view subject, const key_field& details) const {
  auto packed = fingerprints::pack_details(details);
  if (!packed) return fail(packed.error());
  if (packed->size() > kept_keys.bytes / 2)
    return fail(errc::too_large, "key details of " + std::to_string(packed->size()) +
                                     " packed bytes; " + std::to_string(kept_keys.bytes / 2) +
                                     " can be kept");
  set_change change;
  change.written.push_back({std::string(sha256(encode(details)).view()), std::move(*packed), 0});
  change.limits = kept_keys;
  auto& core = *internals::core(entries_);
  if (auto no = core.refusal()) return fail(*no);
  const cache_key place(internals::name(entries_), name_of_subject(subject).encoded());
  const auto kept = engine::ask_actor<set_reply>(core, core.shards().owner_of(place), verb::merge_v,
                                                 place, change);
  if (!kept) return fail(kept.error());
  return {};
}

// A file that is renamed over another is written to disk at once by ext4, so the old one is removed
// first: a reader may find none for a moment.
expected<void> key_history::set_last(std::vector<explained_miss> misses) const {
  const auto& core = *internals::core(entries_);
  if (!core.store()) return {};
  const auto file = core.settings().store / last_misses;
  if (core.settings().store_read_only)
    return fail(errc::read_only, "cannot write " + file.string() + ": the store is read-only");
  last_limits left;
  value::array all;
  for (auto& miss : misses) {
    if (!left.take(miss.what.size())) break;
    auto lines = texts_within(miss.lines, left);
    all.emplace_back(value::map{{"what", std::move(miss.what)}, {"lines", std::move(lines)}});
  }
  auto pending = os::pending_file::begin(file, 0600);
  if (!pending) return fail(pending.error());
  if (auto written = pending->write(encode(value(std::move(all)))); !written) return written;
  return os::pending_file::commit_all({&*pending, 1}, os::replacement::removing_first);
}

expected<std::vector<explained_miss>> key_history::last() const {
  const auto& core = *internals::core(entries_);
  std::vector<explained_miss> all;
  if (!core.store()) return all;
  const auto file = core.settings().store / last_misses;
  const auto bytes = os::read_whole_file(file, max_file_bytes);
  if (!bytes && bytes.error().code() == errc::not_found) return all;
  if (!bytes) return fail(bytes.error());
  const auto stored = decode_value(*bytes);
  const auto* misses = stored ? stored->as<value::array>() : nullptr;
  if (!misses) return fail(unreadable(file));
  for (const auto& one : *misses) {
    auto miss = miss_of(one);
    if (!miss) return fail(unreadable(file));
    all.push_back(std::move(*miss));
  }
  return all;
}

key_field field_of(const value& v) {
  return std::visit(
      [](const auto& held) -> key_field {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<T, binary>) {
          return key_field(key_field::bytes{held.bytes});
        } else if constexpr (std::is_same_v<T, value::array>) {
          key_field::list items;
          for (const auto& item : held)
            items.push_back(field_of(item));
          return key_field(std::move(items));
        } else if constexpr (std::is_same_v<T, value::map>) {
          key_field::map members;
          for (const auto& [name, member] : held)
            members.emplace(name, field_of(member));
          return key_field(std::move(members));
        } else if constexpr (std::is_same_v<T, value::keyed_map>) {
          key_field::list pairs;
          for (const auto& [at, member] : held)
            pairs.emplace_back(key_field::list{field_of(at), field_of(member)});
          return key_field::set_of(std::move(pairs)); // no other value is a set
        } else {
          return key_field(held);
        }
      },
      v.data());
}

} // namespace hearth
