// Envelopes: a sealed entry is opened, and nothing else is (docs/remote-format.md).
#include "storage/remote/envelope.hpp"

#include "storage/hash/copy_hash.hpp"
#include "storage/remote/entry_names.hpp"
#include "storage/remote/envelope_codec.hpp"
#include "storage/resp/cluster_slots.hpp"
#include "tests/storage/remote/remote_keys.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <zstd.h>

namespace envelope_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

namespace {

std::string noise(std::size_t size) {
  std::mt19937_64 random(size);
  std::string bytes(size, '\0');
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
  return bytes;
}

artifact some_artifact() {
  return artifact::make(std::string(5000, 'x') + noise(300),
                        value::map{{"guard", "s0 > 1"}, {"time_taken_ns", 5}});
}

envelope_fault fault_of(const cache_key& key, std::string_view bytes,
                        const signing_keys& keys = {}) {
  const auto opened = open_envelope(key, bytes, keys, one_mib);
  CHECK(bool(opened.value) == (opened.fault == envelope_fault::none));
  return opened.fault;
}

// The same envelope with other fields and a matching checksum, as a writer without a key can make
// it.
template <class Change>
std::string remade(const cache_key& key, std::string_view bytes, Change change) {
  auto fields = unpack_envelope(bytes);
  REQUIRE(fields);
  change(*fields);
  fields->checksum = entry_checksum(key, *fields, hash_bytes(fields->stored));
  return pack_envelope(*fields);
}

} // namespace

TEST_CASE("envelope: a sealed entry of any size is opened") {
  for (const bool sign : {false, true})
    for (const std::size_t size : {0u, 1u, 127u, 128u, 5000u, 70000u, 300000u})
      for (const auto& payload : {std::string(size, 'a'), noise(size)})
        for (const auto& metadata : {value::map{}, value::map{{"time_taken_ns", 7}}}) {
          const auto key = key_in("graphs", "k", sign);
          const auto made = artifact::make(payload, metadata);
          const auto bytes = seal_envelope(key, made, two_keys());
          const auto opened = open_envelope(key, bytes, two_keys(), one_mib);
          REQUIRE(opened.fault == envelope_fault::none);
          CHECK(same_bytes(opened.value, made));
        }
}

TEST_CASE("envelope: a payload is packed when that makes it smaller, and otherwise not") {
  const auto key = key_in("graphs", "k");
  CHECK(seal_envelope(key, artifact::make(std::string(100000, 'a')), {}).size() < 300);
  CHECK(seal_envelope(key, artifact::make(noise(100000)), {}).size() < 100100);
  CHECK(seal_envelope(key, artifact::make(""), {}).size() < 100);
}

TEST_CASE("envelope: the same entry has the same bytes everywhere") {
  const auto key = key_in("graphs", "k", true);
  CHECK(seal_envelope(key, some_artifact(), two_keys()) ==
        seal_envelope(key, some_artifact(), two_keys()));
}

TEST_CASE("envelope: the entry of another key, cache or version is damaged, signed or not") {
  for (const bool sign : {false, true}) {
    const auto bytes = seal_envelope(key_in("graphs", "k", sign), some_artifact(), two_keys());
    CHECK(fault_of(key_in("graphs", "k", sign), bytes, two_keys()) == envelope_fault::none);
    CHECK(fault_of(key_in("graphs", "l", sign), bytes, two_keys()) == envelope_fault::damaged);
    CHECK(fault_of(key_in("others", "k", sign), bytes, two_keys()) == envelope_fault::damaged);
    CHECK(fault_of(key_in("graphs", "k", sign, "1"), bytes, two_keys()) == envelope_fault::damaged);
  }
}

TEST_CASE("envelope: a signed entry under another name is forged") {
  const auto key = key_in("graphs", "k", true);
  const auto bytes = seal_envelope(key, some_artifact(), two_keys());
  for (const auto& other :
       {key_in("graphs", "l", true), key_in("others", "k", true), key_in("graphs", "k", true, "1")})
    CHECK(fault_of(other, remade(other, bytes, [&](auto& f) { f.key = other.bytes; }),
                   two_keys()) == envelope_fault::forged);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { --f.payload_bytes; }), two_keys()) ==
        envelope_fault::forged);
}

TEST_CASE(
    "envelope: an entry has its whole key, and is damaged under another key of the same hashes") {
  const auto key = key_in("graphs", "k");
  auto other = key_in("graphs", "l");
  other.disk_hash = key.disk_hash; // two keys may be made to collide
  const auto bytes = seal_envelope(key, some_artifact(), {});
  CHECK(fault_of(key, bytes) == envelope_fault::none);
  CHECK(fault_of(other, bytes) == envelope_fault::damaged);
}

TEST_CASE("envelope: other versions are malformed") {
  const auto key = key_in("graphs", "k");
  const auto bytes = seal_envelope(key, some_artifact(), {});
  constexpr std::size_t at_version = 8;
  REQUIRE(bytes[at_version] == 2);
  for (const char version : {'\0', '\1', '\3', '\x7f'}) {
    auto changed = bytes;
    changed[at_version] = version;
    CHECK(fault_of(key, changed) == envelope_fault::malformed);
  }
}

TEST_CASE("envelope: no flipped bit and no lost or added byte is accepted") {
  for (const bool sign : {false, true}) {
    const auto key = key_in("graphs", "k", sign);
    const auto bytes = seal_envelope(key, some_artifact(), two_keys());
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (int bit = 0; bit < 8; ++bit) {
        auto flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        const auto opened = open_envelope(key, flipped, two_keys(), one_mib);
        CAPTURE(at);
        CHECK(opened.fault != envelope_fault::none);
      }
    for (std::size_t size = 0; size < bytes.size(); ++size)
      CHECK(fault_of(key, bytes.substr(0, size), two_keys()) == envelope_fault::malformed);
    CHECK(fault_of(key, bytes + '\0', two_keys()) == envelope_fault::malformed);
    CHECK(fault_of(key, bytes + bytes, two_keys()) == envelope_fault::malformed);
  }
}

TEST_CASE("envelope: changed metadata or payload whose checksum was made to fit is forged") {
  const auto key = key_in("graphs", "k", true);
  const auto bytes = seal_envelope(key, some_artifact(), two_keys());
  const auto guard = encode(value{value::map{{"guard", "True"}}});
  CHECK(fault_of(key, remade(key, bytes, [&](auto& f) { f.metadata = guard; }), two_keys()) ==
        envelope_fault::forged);
  CHECK(fault_of(key,
                 remade(key, bytes,
                        [&](auto& f) {
                          f.stored = "evil";
                          f.payload_bytes = 4;
                          f.coding = 0;
                        }),
                 two_keys()) == envelope_fault::forged);
  CHECK(fault_of(key, remade(key, bytes, [](auto&) {}), two_keys()) == envelope_fault::none);
}

TEST_CASE("envelope: a cache that signs accepts no unsigned entry and none of an unknown key") {
  const auto key = key_in("graphs", "k", true);
  const auto unsigned_bytes = seal_envelope(key_in("graphs", "k"), some_artifact(), two_keys());
  CHECK(fault_of(key, unsigned_bytes, two_keys()) == envelope_fault::unsigned_);
  const signing_keys strangers{{"stranger", std::string(32, 's')}};
  const auto stranger_bytes = seal_envelope(key, some_artifact(), strangers);
  CHECK(fault_of(key, stranger_bytes, two_keys()) == envelope_fault::forged);
  CHECK(fault_of(key, stranger_bytes, {}) == envelope_fault::forged);
  // A known id with another secret.
  const signing_keys thief{{"new", std::string(32, 's')}};
  CHECK(fault_of(key, seal_envelope(key, some_artifact(), thief), two_keys()) ==
        envelope_fault::forged);
}

TEST_CASE("envelope: a signature may be of any key of the list, by its own id and algorithm") {
  const auto key = key_in("graphs", "k", true);
  const signing_keys old{two_keys()[1]};
  const auto bytes = seal_envelope(key, some_artifact(), old);
  CHECK(fault_of(key, bytes, two_keys()) == envelope_fault::none);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.signature->key_id = "new"; }),
                 two_keys()) == envelope_fault::forged);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.signature->algorithm = 2; }),
                 two_keys()) == envelope_fault::forged);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.signature->bytes = ""; }), two_keys()) ==
        envelope_fault::forged);
}

TEST_CASE("envelope: a cache that does not sign checks no signature and writes none") {
  const auto bytes = seal_envelope(key_in("graphs", "k"), some_artifact(), two_keys());
  CHECK(!unpack_envelope(bytes)->signature);
  const auto signed_bytes = seal_envelope(key_in("graphs", "k", true), some_artifact(), two_keys());
  CHECK(fault_of(key_in("graphs", "k"), signed_bytes) == envelope_fault::none);
}

TEST_CASE("envelope: nothing is sealed for a cache that signs when there are no keys") {
  CHECK(seal_envelope(key_in("graphs", "k", true), some_artifact(), {}).empty());
}

TEST_CASE("envelope: one that is too large, packed or unpacked, is not unpacked") {
  const auto key = key_in("graphs", "k");
  const auto large = seal_envelope(key, artifact::make(noise(1000)), {});
  CHECK(open_envelope(key, large, {}, large.size()).fault == envelope_fault::none);
  CHECK(open_envelope(key, large, {}, large.size() - 1).fault == envelope_fault::too_large);
  const auto bomb = seal_envelope(key, artifact::make(std::string(64u << 20, '\0')), {});
  REQUIRE(bomb.size() < 10000);
  CHECK(open_envelope(key, bomb, {}, one_mib).fault == envelope_fault::too_large);
}

TEST_CASE("envelope: a packed payload of another size than announced is damaged") {
  const auto key = key_in("graphs", "k");
  const auto bytes = seal_envelope(key, artifact::make(std::string(50000, 'a')), {});
  for (const std::uint64_t size : {49999u, 50001u, 1000000u, 60u})
    CHECK(fault_of(key, remade(key, bytes, [&](auto& f) { f.payload_bytes = size; })) ==
          envelope_fault::damaged);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.stored = "no zstd frame at all"; })) ==
        envelope_fault::damaged);
}

TEST_CASE("envelope: impossible codings and sizes are malformed") {
  const auto key = key_in("graphs", "k");
  const auto bytes = seal_envelope(key, artifact::make(std::string(50000, 'a')), {});
  const auto raw = seal_envelope(key, artifact::make("short"), {});
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.coding = 2; })) ==
        envelope_fault::malformed);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.coding = 257; })) ==
        envelope_fault::malformed);
  CHECK(fault_of(key, remade(key, bytes, [](auto& f) { f.payload_bytes = f.stored.size(); })) ==
        envelope_fault::malformed);
  CHECK(fault_of(key, remade(key, raw, [](auto& f) { f.payload_bytes = 6; })) ==
        envelope_fault::malformed);
  const std::string huge(max_metadata_bytes + 1, 'm');
  const auto heavy = remade(key, raw, [&](auto& f) { f.metadata = huge; });
  CHECK(open_envelope(key, heavy, {}, 64 * one_mib).fault == envelope_fault::malformed);
}

TEST_CASE("envelope: hostile msgpack is malformed, at once and without its memory") {
  using namespace std::string_literals;
  const auto key = key_in("graphs", "k");
  const std::string head = "\x99\xa6hearth\x02\xc4\x02\xa1k\x00\x05\xc4\x00"s; // up to the checksum
  const std::string sum = "\xcf" + std::string(8, 's');
  REQUIRE(unpack_envelope(head + sum + "\xc0\xc4\x05short"s)); // this envelope is well-formed
  const std::string hostile[] = {
      ""s,
      "\xc0"s,
      "\xdd\xff\xff\xff\xff"s,                            // an array of 2^32 - 1
      "\xdf\xff\xff\xff\xff"s,                            // a map of as many
      "\xc6\xff\xff\xff\xff"s,                            // bytes of as many
      std::string(100000, '\x91'),                        // arrays in arrays
      "\x99"s + std::string(100000, '\x99'),              // arrays in place of the magic
      "\x99\xa6hearth\xff"s,                              // a negative version
      "\x99\xa6heartH\x02"s,                              // another magic
      "\x98\xa6hearth\x02"s,                              // another count
      "\x99\xa6hearth\x02\xa1k"s,                         // a key that is text
      "\x99\xa6hearth\x02\xc6\xff\xff\xff\xff"s,          // a giant one
      head + "\xc4\x08"s + std::string(8, 's'),           // a checksum of bytes
      head + "\xc6\xff\xff\xff\xff"s,                     // of giant ones
      head + "\xa1s"s,                                    // of text
      head + "\xc0"s,                                     // none
      head + "\xff"s,                                     // a negative one
      head + "\xcb"s + std::string(8, 's'),               // a real number
      head + "\xcfsss"s,                                  // half of one
      head + sum + "\x94\x01"s,                           // a signature of four
      head + sum + "\xdd\xff\xff\xff\xff"s,               // of giant many
      head + sum + "\xc0\xc6\xff\xff\xff\xff" + "12345"s, // a giant payload
      head + sum + "\xc0\xa5" + "12345"s,                 // text, not bytes
  };
  for (const auto& bytes : hostile) {
    CAPTURE(bytes.size());
    CHECK(fault_of(key, bytes) == envelope_fault::malformed);
  }
}

TEST_CASE("envelope: the faults have their names") {
  CHECK(to_string(envelope_fault::malformed) == "malformed");
  CHECK(to_string(envelope_fault::too_large) == "too_large");
  CHECK(to_string(envelope_fault::damaged) == "damaged");
  CHECK(to_string(envelope_fault::unsigned_) == "unsigned");
  CHECK(to_string(envelope_fault::forged) == "forged");
}

TEST_CASE("envelope: an entry's name contains prefix, cache, version and the key's hash") {
  const auto key = key_in("graphs", "k", false, "v2");
  // printf '\xa1k' | xxhsum -H2
  const std::string hash = "a0d62145a1481b83a25cdd8de3727589";
  CHECK(remote_entry_name({}, key) == "hearth:graphs:v2:" + hash);
  CHECK(remote_lease_name({}, key) == "hearth:graphs:v2:" + hash + ":lease");
  CHECK(remote_entry_name({"", false}, key) == ":graphs:v2:" + hash);
  // In a cluster all names of an entry are in one slot.
  const remote_naming tagged{"hearth", true};
  CHECK(remote_entry_name(tagged, key) == "hearth:graphs:v2:{" + hash + "}");
  CHECK(remote_lease_name(tagged, key) == "hearth:graphs:v2:{" + hash + "}:lease");
  CHECK(slot_of(remote_entry_name(tagged, key)) == slot_of(remote_lease_name(tagged, key)));
  CHECK(slot_of(remote_entry_name(tagged, key)) == slot_of(remote_set_name(tagged, key)));
}

TEST_CASE("envelope: an entry of a foreign cache is its payload under its key") {
  auto named = *key_in("others", "k").cache;
  named.foreign = true;
  const cache_key at(std::make_shared<const named_cache>(named), key("pt2:a::b:c1").encoded());
  CHECK(remote_entry_name({}, at) == "pt2:a::b:c1");
  CHECK(seal_envelope(at, artifact::make("{}", value::map{{"guard", "s0"}}), {}) == "{}");
  const auto opened = open_envelope(at, "{\"a\": 1}", {}, one_mib);
  REQUIRE(opened.fault == envelope_fault::none);
  CHECK(opened.value.payload() == "{\"a\": 1}");
  CHECK(fault_of(at, std::string(one_mib + 1, 'x')) == envelope_fault::too_large);
}

} // namespace envelope_test
