#include "runtime/server/entries/hash_fields.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hearth;
using namespace hearth::server;

TEST_CASE("hash fields: a stored hash has its fields, order and expiry") {
  hash_fields fields;
  const std::string binary("\0\xff", 2);
  CHECK(fields.set({"a", "1"}));
  CHECK(fields.set({binary, ""}));
  CHECK_FALSE(fields.set({"a", "23"}));
  const auto stored = fields.store(77);
  CHECK(type_of(stored) == entry_type::hash);
  CHECK(expiry_of(stored) == 77);
  CHECK(stored.payload().size() == fields.payload_bytes());
  const auto read = hash_fields::read(stored.payload());
  REQUIRE(read.has_value());
  CHECK_FALSE(read->is_changed());
  REQUIRE(read->all().size() == 2);
  CHECK(read->all()[0].name == "a");
  CHECK(read->find("a")->bytes == "23");
  CHECK(read->find(binary)->bytes.empty());
  CHECK(read->find("b") == nullptr);
  CHECK(type_of(with_expiry(stored, 5)) == entry_type::hash);
  CHECK(type_of(make_value("x", 5)) == entry_type::string);
}

TEST_CASE("hash fields: it is known whether a change made a difference") {
  hash_fields fields;
  fields.set({"a", "1"});
  const auto stored = fields.store(0);
  auto read = *hash_fields::read(stored.payload());
  read.set({"a", "1"});
  CHECK(read.remove({"none"}) == 0);
  CHECK_FALSE(read.is_changed());
  auto other = read;
  other.set({"a", "2"});
  CHECK(other.is_changed());
  CHECK(read.remove({"a", "a"}) == 1);
  CHECK(read.is_changed());
  CHECK(read.payload_bytes() == 0);
  read.join(other);
  CHECK(read.find("a")->bytes == "2");
}

TEST_CASE("hash fields: damaged bytes are no hash") {
  hash_fields fields;
  fields.set({"name", "bytes"});
  const std::string payload(fields.store(0).payload());
  for (std::size_t size = 1; size < payload.size(); ++size)
    CHECK_FALSE(hash_fields::read(payload.substr(0, size)).has_value());
  CHECK_FALSE(hash_fields::read(payload + payload).has_value()); // a name twice
  CHECK(hash_fields::read("")->all().empty());
}
