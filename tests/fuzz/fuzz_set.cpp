// Members of sets and purges of the log, as a server may hold them: whole sets, single members,
// members in envelopes that an attacker could make, replies to the commands that read the log, and
// the store's record of how far it was read.
#include "messages/member_set.hpp"

#include "messages/value.hpp"
#include "storage/hash/copy_hash.hpp"
#include "storage/remote/envelope_codec.hpp"
#include "storage/remote/member_envelope.hpp"
#include "storage/remote/purge_log.hpp"
#include "storage/resp/resp_parser.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/storage/remote/remote_keys.hpp"

#include <algorithm>
#include <string>
#include <utility>

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::fuzz;

namespace {

constexpr std::uint64_t max_bytes = 1u << 18;

void check_limits_of(member_set set) {
  const auto whole = set;
  const auto dropped = set.trim({3, 64});
  require(set.size() <= 3, "more members than the limit");
  member_set again = set;
  for (const auto& member : dropped)
    again.add(member);
  require(again == whole, "a dropped member is not one of the set");
}

void check_unions(const member_set& whole) {
  member_set even;
  member_set odd;
  bool is_odd = false;
  for (auto member : whole.members()) {
    (is_odd ? odd : even).add(member);
    // The other half has an earlier copy of some.
    if (member.stamp > 0) (is_odd ? even : odd).add({member.id, member.content, member.stamp - 1});
    is_odd = !is_odd;
  }
  auto left = even;
  left.merge(odd);
  auto right = odd;
  right.merge(even);
  require(left == whole && right == whole, "a union depends on the order");
  require(!left.merge(even) && !left.merge(odd), "a union grows by what it has");
  auto mended = even;
  mended.merge(whole.without(even));
  require(mended == whole, "what a copy lacks does not complete it");
}

void check_set(std::string_view bytes) {
  const auto set = decode_members(bytes);
  if (!set) return;
  const auto& members = set->members();
  const auto ordered =
      std::is_sorted(members.begin(), members.end(),
                     [](const set_member& a, const set_member& b) { return a.id < b.id; });
  require(ordered, "members that are not in order");
  const auto again = decode_members(encode(*set));
  require(again && *again == *set, "a set is another one when encoded again");
  check_unions(*set);
  check_limits_of(*set);
}

void check_envelope_of(const set_member& member, bool sign) {
  const auto set = test::key_in("graphs", "k", sign);
  const auto field = member_field(member);
  const auto sealed = seal_member(set, member, test::two_keys());
  const auto opened = open_member(set, field, sealed, test::two_keys(), max_bytes);
  require(opened.fault == envelope_fault::none && opened.member == member,
          "a member does not come back from its envelope");
  const auto entry = open_envelope(set, sealed, test::two_keys(), max_bytes);
  require(entry.fault != envelope_fault::none, "a member stands for an entry");
  const auto other = test::key_in("graphs", "other", sign);
  require(open_member(other, field, sealed, test::two_keys(), max_bytes).fault !=
              envelope_fault::none,
          "a member stands for one of another set");
  auto elsewhere = field;
  elsewhere[0] = elsewhere[0] == '0' ? '1' : '0';
  require(open_member(set, elsewhere, sealed, test::two_keys(), max_bytes).fault ==
              envelope_fault::damaged,
          "a member is taken from a field of another name");
}

void check_member(std::string_view bytes) {
  const auto member = decode_member(bytes);
  if (!member) return;
  require(member->stamp >= 0, "a negative stamp");
  const auto again = decode_member(encode(*member));
  require(again && *again == *member, "a member is another one when encoded again");
  check_envelope_of(*member, false);
  check_envelope_of(*member, true);
}

// The bytes as a field's value, as they are, and as the payload of a genuine envelope.
void check_field(std::string_view bytes) {
  const auto set = test::key_in("graphs", "k");
  const auto field = std::string(32, '0');
  const auto as_is = open_member(set, field, bytes, test::two_keys(), max_bytes);
  require(as_is.fault != envelope_fault::none, "a member whose field has another name");
  if (bytes.size() > max_bytes) return;
  const auto sealed = seal_envelope(derived_key(set, key("member")),
                                    artifact::make(std::string(bytes)), test::two_keys());
  const auto decoded = decode_member(bytes);
  const auto name = decoded ? member_field(*decoded) : field;
  const auto opened = open_member(set, name, sealed, test::two_keys(), max_bytes);
  require((opened.fault == envelope_fault::none) == bool(decoded),
          "an envelope decides what a member is");
}

void check_purges(const std::optional<std::vector<logged_purge>>& purges) {
  if (!purges) return;
  for (const auto& purge : *purges) {
    const auto place = log_place_of(to_string(purge.place));
    require(place && *place == purge.place, "a place is another one as text");
    (void)cache_id::make(purge.cache, purge.version);
  }
}

void check_replies(std::string_view bytes) {
  const auto id = *cache_id::make("graphs", "0");
  resp_parser parser({1u << 16, 512, 5, 512, 600});
  resp_value reply;
  while (parser.take(bytes, reply) == resp_parser::outcome::value) {
    check_purges(logged_purges(reply));
    check_purges(awaited_purges(reply));
    const auto found = found_entries(reply, {}, id);
    if (!found) continue;
    for (const auto& name : found->names)
      require(name.size() == std::string_view("hearth:graphs:0:").size() + 32,
              "the name of something else than an entry");
  }
}

void check_place(std::string_view bytes) {
  const auto place = place_in_marks(bytes, "server", "hearth:purges");
  if (place)
    require(place_in_marks(add_mark(bytes, log_mark("server", "hearth:purges", {1, 2})), "server",
                           "hearth:purges") == log_place{1, 2},
            "an earlier mark of a log counts");
  if (const auto text = log_place_of(bytes))
    require(log_place_of(to_string(*text)) == text, "a place is another one as text");
  if (is_removed_mark(bytes)) {
    const auto key = test::key_in("graphs", "k");
    require(open_envelope(key, bytes, test::two_keys(), max_bytes).fault ==
                envelope_fault::malformed,
            "a mark is taken for an entry");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = text_of(data, size);
  check_set(bytes);
  check_member(bytes);
  check_field(bytes);
  check_replies(bytes);
  check_place(bytes);
  return 0;
}
