#include "messages/member_set.hpp"

#include "messages/pack.hpp"
#include "messages/value.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace hearth {
namespace {

constexpr std::int64_t set_version = 1;

auto place_of(std::vector<set_member>& members, std::string_view id) {
  return std::lower_bound(members.begin(), members.end(), id,
                          [](const set_member& member, std::string_view wanted) {
                            return std::string_view(member.id) < wanted;
                          });
}

std::size_t size_of(const set_member& member) noexcept {
  return member.id.size() + member.content.size();
}

void pack(packer& out, const set_member& member) {
  out.pack_array(3);
  pack_bytes(out, member.id);
  out.pack_int64(member.stamp);
  pack_bytes(out, member.content);
}

constexpr std::size_t around_member = 24; // at most, in the msgpack form

error malformed() { return {errc::malformed, "not a set of members"}; }

// Takes the texts out of `encoded`.
expected<set_member> member_in(value& encoded) {
  auto* parts = encoded.as<value::array>();
  if (!parts || parts->size() != 3) return fail(malformed());
  auto* id = (*parts)[0].as<binary>();
  const auto* stamp = (*parts)[1].as<std::int64_t>();
  auto* content = (*parts)[2].as<binary>();
  if (!id || !stamp || *stamp < 0 || !content) return fail(malformed());
  return set_member{std::move(id->bytes), std::move(content->bytes), *stamp};
}

} // namespace

bool is_later(const set_member& a, const set_member& b) noexcept {
  return std::tie(a.stamp, a.content) > std::tie(b.stamp, b.content);
}

const set_member* member_set::find(std::string_view id) const noexcept {
  const auto at = std::lower_bound(members_.begin(), members_.end(), id,
                                   [](const set_member& member, std::string_view wanted) {
                                     return std::string_view(member.id) < wanted;
                                   });
  return at != members_.end() && at->id == id ? &*at : nullptr;
}

member_set member_set::without(const member_set& other) const {
  member_set rest;
  for (const auto& member : members_) {
    const auto* theirs = other.find(member.id);
    if (!theirs || is_later(member, *theirs)) rest.members_.push_back(member);
  }
  return rest;
}

std::int64_t member_set::latest_stamp() const noexcept {
  std::int64_t latest = 0;
  for (const auto& member : members_)
    latest = std::max(latest, member.stamp);
  return latest;
}

bool member_set::add(set_member member) {
  const auto at = place_of(members_, member.id);
  if (at == members_.end() || at->id != member.id) {
    members_.insert(at, std::move(member));
    return true;
  }
  if (!is_later(member, *at)) return false;
  *at = std::move(member);
  return true;
}

bool member_set::merge(const member_set& other) {
  if (empty()) {
    members_ = other.members_;
    return !empty();
  }
  bool changed = false;
  for (const auto& member : other.members_)
    changed |= add(member);
  return changed;
}

bool member_set::remove(const std::vector<set_member>& gone) {
  const auto before = members_.size();
  for (const auto& member : gone) {
    const auto at = place_of(members_, member.id);
    if (at != members_.end() && *at == member) members_.erase(at);
  }
  return members_.size() != before;
}

std::vector<set_member> member_set::trim(const set_limits& limits) {
  std::size_t bytes = 0;
  for (const auto& member : members_)
    bytes += size_of(member);
  if (members_.size() <= limits.members && bytes <= limits.bytes) return {};
  // The members that go first stand first.
  std::sort(members_.begin(), members_.end(), [](const set_member& a, const set_member& b) {
    return std::tie(a.stamp, a.id) < std::tie(b.stamp, b.id);
  });
  std::size_t gone = 0;
  while (members_.size() - gone > limits.members || bytes > limits.bytes)
    bytes -= size_of(members_[gone++]);
  const auto kept = members_.begin() + static_cast<std::ptrdiff_t>(gone);
  std::vector<set_member> dropped(std::make_move_iterator(members_.begin()),
                                  std::make_move_iterator(kept));
  members_.erase(members_.begin(), kept);
  std::sort(members_.begin(), members_.end(),
            [](const set_member& a, const set_member& b) { return a.id < b.id; });
  return dropped;
}

set_outcome apply(member_set& set, const set_change& change) {
  const auto before = set;
  set_outcome outcome;
  set.merge(change.joined);
  set.remove(change.removed); // also from what was joined: it may be an older copy
  auto stamp = set.latest_stamp();
  const auto write = [&](set_member member) {
    member.stamp = ++stamp;
    if (const auto* earlier = set.find(member.id))
      outcome.dropped.push_back(*earlier);
    else
      ++outcome.new_ids;
    outcome.written.push_back(member);
    set.add(std::move(member));
  };
  for (const auto& member : change.written)
    write(member);
  for (const auto& member : change.added)
    if (!set.find(member.id)) write(member);
  for (auto& member : set.trim(change.limits))
    outcome.dropped.push_back(std::move(member));
  outcome.changed = !(set == before);
  return outcome;
}

std::string encode(const member_set& set) {
  std::size_t bytes = around_member;
  for (const auto& member : set.members())
    bytes += size_of(member) + around_member;
  msgpack::sbuffer buffer(bytes);
  packer out(buffer);
  out.pack_array(2).pack_int64(set_version);
  out.pack_array(static_cast<std::uint32_t>(set.size()));
  for (const auto& member : set.members())
    pack(out, member);
  return {buffer.data(), buffer.size()};
}

expected<member_set> decode_members(std::string_view bytes) {
  auto decoded = decode_value(bytes);
  auto* parts = decoded ? decoded->as<value::array>() : nullptr;
  if (!parts || parts->size() != 2 || (*parts)[0] != value(set_version)) return fail(malformed());
  auto* members = (*parts)[1].as<value::array>();
  if (!members) return fail(malformed());
  member_set set;
  for (auto& encoded : *members) {
    auto member = member_in(encoded);
    if (!member) return fail(member.error());
    if (!set.empty() && set.members().back().id >= member->id) return fail(malformed());
    set.add(std::move(*member));
  }
  return set;
}

std::string encode(const set_member& member) {
  msgpack::sbuffer buffer(size_of(member) + around_member);
  packer out(buffer);
  pack(out, member);
  return {buffer.data(), buffer.size()};
}

expected<set_member> decode_member(std::string_view bytes) {
  auto decoded = decode_value(bytes);
  if (!decoded) return fail(malformed());
  return member_in(*decoded);
}

} // namespace hearth
