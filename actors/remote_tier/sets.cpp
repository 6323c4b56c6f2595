#include "actors/remote_tier/sets.hpp"

#include "actors/remote_tier/counts.hpp"
#include "actors/remote_tier/lookups.hpp"
#include "actors/remote_tier/service.hpp"
#include "actors/remote_tier/writes.hpp"
#include "storage/remote/commands.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/remote/member_envelope.hpp"

#include <algorithm>
#include <utility>

namespace hearth::actors::remote {
namespace {

using storage::envelope_fault;
using storage::remote_write;
using storage::resp_value;

// How many members one command carries; a server's scripts take a limited number of arguments.
constexpr std::size_t max_members_sent = 512;

void write_members(self_pointer self, const cache_key& key, remote_write::kind what,
                   const std::vector<set_member>& members) {
  for (std::size_t first = 0; first < members.size(); first += max_members_sent) {
    const auto last = std::min(members.size(), first + max_members_sent);
    remote_write write;
    write.what = what;
    write.key = key;
    write.members.assign(members.begin() + static_cast<std::ptrdiff_t>(first),
                         members.begin() + static_cast<std::ptrdiff_t>(last));
    remote::write(self, std::move(write));
  }
}

bool is_hash(const resp_value& value) {
  using kind = resp_value::kind;
  const bool has_pairs = value.type == kind::array || value.type == kind::map;
  return has_pairs && value.items.size() % 2 == 0 &&
         std::all_of(value.items.begin(), value.items.end(),
                     [](const auto& item) { return item.type == kind::bytes; });
}

// The members in the fields of a hash; a field that is unusable is counted and left out.
std::vector<set_member> members_in(state_type& state, const cache_key& key,
                                   const resp_value& fields) {
  std::vector<set_member> members;
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    auto opened = storage::open_member(key, fields.items[i].text, fields.items[i + 1].text,
                                       state.config.keys, state.config.max_value_bytes);
    if (opened.fault == envelope_fault::none)
      members.push_back(std::move(opened.member));
    else
      count_failure(state, key, to_string(opened.fault));
  }
  return members;
}

// The union of the members. Those that a later one of the same id replaces are removed from the
// server.
member_set union_of(self_pointer self, const cache_key& key, std::vector<set_member> members) {
  member_set set;
  for (const auto& member : members)
    set.add(member);
  std::erase_if(members, [&](const auto& member) { return *set.find(member.id) == member; });
  write_members(self, key, remote_write::kind::remove, members);
  return set;
}

void answer(state_type& state, const state_type::asked_set& asked, fleet_members found) {
  state.writes.apply_changes(asked.key, found.members);
  asked.reply.deliver(std::move(found));
}

void end_lookup(self_pointer self, std::uint64_t number, const remote_reply& reply) {
  auto& state = self->state;
  const auto node = state.set_lookups.extract(number);
  if (node.empty()) return; // it was given up
  const auto& asked = node.mapped();
  auto& counts = counts_of(state, asked.key);
  fleet_members found;
  if (reply.failure == remote_failure::none && is_hash(reply.value)) {
    found.is_answered = true;
    found.members = union_of(self, asked.key, members_in(state, asked.key, reply.value));
  } else {
    const bool is_other = reply.failure == remote_failure::none;
    count_failure(state, asked.key, to_string(is_other ? remote_failure::garbage : reply.failure));
  }
  ++(found.members.empty() ? counts.misses : counts.hits);
  answer(state, asked, std::move(found));
}

} // namespace

void find_set(self_pointer self, const cache_key& key, const shared_promise<fleet_members>& reply) {
  auto& state = self->state;
  if (!may_look(state, key) || !is_in_service(state)) {
    ++counts_of(state, key).skipped;
    return answer(state, {key, reply}, {});
  }
  const auto number = ++state.last_lookup;
  state.set_lookups.emplace(number, state_type::asked_set{key, reply});
  send(self, command_purpose::lookup,
       storage::get_fields_command(storage::remote_set_name(state.config.naming, key)),
       state.config.deadline,
       [self, number](const remote_reply& answer) { end_lookup(self, number, answer); });
}

void change_set(self_pointer self, const cache_key& key, const set_change& change) {
  write_members(self, key, remote_write::kind::add, change.joined.members());
  write_members(self, key, remote_write::kind::remove, change.removed);
}

void give_up_sets(state_type& state, std::string_view reason) {
  for (const auto& [number, asked] : std::exchange(state.set_lookups, {})) {
    count_failure(state, asked.key, reason);
    ++counts_of(state, asked.key).misses;
    answer(state, asked, {});
  }
}

} // namespace hearth::actors::remote
