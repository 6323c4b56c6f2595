// Bundles: a reader returns what was written, and takes nothing of damaged bytes
// (docs/bundle-format.md).
#include "messages/hash.hpp"
#include "tests/storage/bundle/bundle_bytes.hpp"
#include "tests/storage/remote/remote_keys.hpp"

#include <doctest/doctest.h>
#include <random>

namespace bundle_test {

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

record_head head_of(std::string_view name, std::string metadata = {}) {
  record_head head;
  head.cache = "graphs";
  head.key = key(name).encoded();
  head.metadata = std::move(metadata);
  return head;
}

bundle_records some_records() {
  record_head other = head_of("unknown");
  other.type = "weights.v9";
  other.version = "7";
  return {{head_of("one", encode(value::map{{"guard", "s0 > 1"}})), "a payload"},
          {head_of("empty"), ""},
          {other, std::string(300, 'x') + noise(50)}};
}

bool same(const bundle_records& a, const bundle_records& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    auto head = x.first;
    head.payload_bytes = y.first.payload_bytes;
    return head == y.first && x.second == y.second && y.second.size() == y.first.payload_bytes;
  });
}

// The reader's error for bytes that it must not accept.
std::string refusal(std::string_view bytes) {
  const auto records = records_in(bytes);
  if (records) return "taken";
  CHECK(records.error().code() == errc::malformed);
  return records.error().text();
}

bool is_refused(std::string_view bytes) { return !records_in(bytes); }

} // namespace

TEST_CASE("bundle: records come back in their order, unknown types too") {
  const auto records = some_records();
  const auto read = records_in(bundle_of(records));
  REQUIRE(read);
  CHECK(same(records, *read));
}

TEST_CASE("bundle: none, one and many blocks, for reads of any size") {
  for (const std::size_t size : {0u, 1u, 1u << 20, (1u << 20) - 40, 3u << 20}) {
    CAPTURE(size);
    const bundle_records records{{head_of("packed"), std::string(size, 'p')},
                                 {head_of("raw"), noise(size)}};
    const auto bytes = bundle_of(records);
    bundle_reader in(source_of(bytes, 4097));
    const auto read = records_of(in);
    REQUIRE(read);
    CHECK(same(records, *read));
    CHECK(in.end().records == 2);
  }
  CHECK(records_in(bundle_of({}))->empty());
}

TEST_CASE("bundle: payloads need not be read") {
  const bundle_records records{{head_of("large"), noise(3u << 20)}, {head_of("next"), "here"}};
  const auto bytes = bundle_of(records);
  bundle_reader in(source_of(bytes));
  REQUIRE(*in.next());
  const auto second = in.next();
  REQUIRE(second);
  CHECK((*second)->key == key("next").encoded());
  CHECK_FALSE(*in.next());
}

TEST_CASE("bundle: the bytes written and read at once are bounded") {
  std::size_t largest = 0;
  std::string bytes;
  bundle_writer out([&](std::string_view part) -> expected<void> {
    largest = std::max(largest, part.size());
    bytes += part;
    return {};
  });
  REQUIRE(out.add(head_of("large"), noise(10u << 20)));
  REQUIRE(out.finish());
  CHECK(largest <= bundle_block_bytes + block_header_bytes);
  std::size_t max_asked = 0;
  bundle_reader in([&, from = source_of(bytes)](char* to, std::size_t max_bytes) mutable {
    max_asked = std::max(max_asked, max_bytes);
    return from(to, max_bytes);
  });
  while (*in.next()) {
  }
  CHECK(max_asked <= bundle_block_bytes);
}

TEST_CASE("bundle: cut at any byte it is an error") {
  const auto bytes = bundle_of(some_records(), two_keys());
  REQUIRE(bytes.size() < 2000);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK(is_refused(std::string_view(bytes).substr(0, size)));
  }
  CHECK(refusal(bytes.substr(0, bytes.size() - 1)) ==
        "the bundle is damaged in block 1, before byte " + std::to_string(bytes.size() - 1) +
            ": it ends too early; get it again");
}

TEST_CASE("bundle: with any bit flipped it is an error") {
  const auto good = bundle_of(some_records(), two_keys());
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    CAPTURE(bit);
    auto bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    CHECK(is_refused(bytes));
  }
}

TEST_CASE("bundle: swapped, missing or additional blocks are an error") {
  const bundle_records records{{head_of("raw"), noise(2u << 20)}};
  const auto bytes = bundle_of(records);
  const auto block = bundle_block_bytes + block_header_bytes;
  const auto part = [&](std::size_t at, std::size_t size) { return bytes.substr(at, size); };
  const auto header = part(0, bundle_header_bytes);
  const auto first = part(bundle_header_bytes, block);
  const auto second = part(bundle_header_bytes + block, block);
  const auto rest = bytes.substr(bundle_header_bytes + 2 * block);
  REQUIRE(header + first + second + rest == bytes);
  CHECK(refusal(header + second + first + rest).find("checksum") != std::string::npos);
  CHECK(is_refused(header + first + rest));
  CHECK(refusal(bytes + "x").find("something follows its end") != std::string::npos);
  CHECK(refusal("#!/bin/sh\necho no bundle\n") == "this is no bundle");
}

TEST_CASE("bundle: a block of another bundle in place of the right one is an error") {
  auto ours = noise(1u << 20);
  const auto a = bundle_of({{head_of("raw"), ours}});
  ours[0] = static_cast<char>(ours[0] ^ 1);
  const auto b = bundle_of({{head_of("raw"), ours}});
  REQUIRE(a.size() == b.size());
  const auto first = bundle_header_bytes + block_header_bytes + bundle_block_bytes;
  CHECK(refusal(b.substr(0, first) + a.substr(first)).find("the digest does not fit") !=
        std::string::npos);
}

TEST_CASE("bundle: another format is an error that names it") {
  auto bytes = bundle_of({});
  bytes[bundle_magic.size()] = 2;
  CHECK(refusal(bytes) == "a bundle of format 2; this program reads 1");
}

TEST_CASE("bundle: inconsistent content is an error, though every checksum fits") {
  const auto length = [](std::uint32_t number) {
    std::string bytes(4, '\0');
    put_number(bytes.data(), number);
    return bytes;
  };
  const auto record = [&](const std::string& head) {
    return length(static_cast<std::uint32_t>(head.size())) + head;
  };
  auto huge = head_of("huge");
  huge.payload_bytes = max_payload_bytes;
  auto nameless = head_of("x");
  nameless.cache = "../..";
  auto keyless = head_of("x");
  keyless.key = "\xc0"; // nil
  auto typeless = head_of("x");
  typeless.type = "no type";
  CHECK(refusal(sealed_content(record(encode_head(huge)), 1)).find("beyond the end") !=
        std::string::npos);
  CHECK(refusal(sealed_content(length(0xffffffff) + "x", 1)).find("too long") != std::string::npos);
  CHECK(refusal(sealed_content(length(max_record_head_bytes) + "x", 1)).find("beyond the end") !=
        std::string::npos);
  for (const auto& head : {nameless, keyless, typeless})
    CHECK(is_refused(sealed_content(record(encode_head(head)), 1)));
  CHECK(is_refused(sealed_content(record("\x91\x01"), 1)));
  CHECK(is_refused(sealed_content("ab", 1)));
  const auto one = record(encode_head(head_of("x")));
  CHECK(records_in(sealed_content(one, 1)));
  CHECK(refusal(sealed_content(one, 2)).find("not as many") != std::string::npos);
}

TEST_CASE("bundle: a head that no reader accepts is not written") {
  std::string bytes;
  bundle_writer out(sink_to(bytes));
  auto head = head_of("x");
  head.type = "";
  const auto added = out.add(head, "payload");
  REQUIRE_FALSE(added);
  CHECK(added.error().code() == errc::invalid_argument);
  REQUIRE(out.finish());
  CHECK(records_in(bytes)->empty());
}

TEST_CASE("bundle: a second pass notices that the bytes have changed") {
  const bundle_records records{{head_of("one"), noise(1u << 20)}, {head_of("two"), "second"}};
  auto other = records;
  other[1].second = "anotherone";
  const auto bytes = bundle_of(records);
  bundle_reader first(source_of(bytes));
  REQUIRE(records_of(first));
  bundle_reader again(source_of(bytes), first.marks());
  const auto read = records_of(again);
  REQUIRE(read);
  CHECK(same(records, *read));
  const auto changed = bundle_of(other); // a valid bundle alone
  bundle_reader late(source_of(changed), first.marks());
  const auto refused = records_of(late);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() == "the bundle was changed while it was read");
}

TEST_CASE("bundle: its signature covers all of it and needs a known key") {
  const auto bytes = bundle_of(some_records(), two_keys());
  bundle_reader in(source_of(bytes));
  REQUIRE(records_of(in));
  const auto& end = in.end();
  REQUIRE(end.signed_by);
  CHECK(end.signed_by->key_id == two_keys().front().id);
  CHECK(is_signed_by(two_keys(), end.signed_by->view(), end.sum));
  const signing_keys strangers{{"stranger", std::string(32, 's')}};
  const signing_keys thief{{two_keys().front().id, std::string(32, 's')}};
  CHECK_FALSE(is_signed_by(strangers, end.signed_by->view(), end.sum));
  CHECK_FALSE(is_signed_by(thief, end.signed_by->view(), end.sum));
  const auto unsigned_bytes = bundle_of(some_records());
  bundle_reader plain(source_of(unsigned_bytes));
  REQUIRE(records_of(plain));
  CHECK_FALSE(plain.end().signed_by);
  CHECK(plain.end().sum == end.sum);
}

} // namespace bundle_test
