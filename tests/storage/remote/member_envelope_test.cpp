// Members of sets in the remote tier (docs/remote-format.md).
#include "storage/remote/member_envelope.hpp"

#include "storage/remote/entry_names.hpp"
#include "tests/storage/remote/remote_keys.hpp"

#include <doctest/doctest.h>

namespace member_envelope_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

const set_member some_member{std::string("i\0d", 3), std::string(300, 'x'), 7};

envelope_fault fault_of(const cache_key& key, std::string_view field, std::string_view bytes,
                        const signing_keys& keys = two_keys()) {
  return open_member(key, field, bytes, keys, one_mib).fault;
}

TEST_CASE("member envelope: a sealed member is opened, signed or not") {
  for (const bool sign : {false, true}) {
    const auto key = key_in("graphs", "k", sign);
    const auto opened = open_member(key, member_field(some_member),
                                    seal_member(key, some_member, two_keys()), two_keys(), one_mib);
    CHECK(opened.fault == envelope_fault::none);
    CHECK(opened.member == some_member);
  }
}

TEST_CASE("member envelope: each member has a field of its own") {
  for (const auto& other : {set_member{"id", "x", 7}, set_member{"id", "x", 8},
                            set_member{"id", "y", 7}, set_member{"other", "x", 7}})
    CHECK(member_field(other) != member_field(some_member));
  CHECK(member_field({"id", "x", 7}) != member_field({"id", "x", 8}));
  CHECK(member_field(some_member).size() == 32);
  CHECK(remote_set_name({}, key_in("graphs", "k")) ==
        remote_entry_name({}, key_in("graphs", "k")) + ":set");
}

TEST_CASE("member envelope: under another key, in another field or changed it is not taken") {
  const auto key = key_in("graphs", "k", true);
  const auto field = member_field(some_member);
  const auto bytes = seal_member(key, some_member, two_keys());
  CHECK(fault_of(key_in("graphs", "other", true), field, bytes) == envelope_fault::damaged);
  CHECK(fault_of(key, member_field({"id", "x", 7}), bytes) == envelope_fault::damaged);
  CHECK(fault_of(key, field, bytes, {{"new", std::string(32, 'z')}}) == envelope_fault::forged);
  CHECK(fault_of(key, field, seal_member(key_in("graphs", "k"), some_member, {})) ==
        envelope_fault::unsigned_);
  auto changed = bytes;
  changed.back() = static_cast<char>(changed.back() + 1);
  CHECK(fault_of(key, field, changed) == envelope_fault::damaged);
  CHECK(fault_of(key, field, "") == envelope_fault::malformed);
  // An entry is no member, and a member no entry.
  const auto entry = seal_envelope(key, artifact::make(encode(some_member)), two_keys());
  CHECK(fault_of(key, field, entry) == envelope_fault::damaged);
  CHECK(open_envelope(key, bytes, two_keys(), one_mib).fault == envelope_fault::damaged);
}

TEST_CASE("member envelope: without a key to sign with it cannot be sealed") {
  CHECK(seal_member(key_in("graphs", "k", true), some_member, {}).empty());
}

} // namespace member_envelope_test
