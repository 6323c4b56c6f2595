// artifact_recorder: sessions are bounded and separate, and note each artifact once.
#include "actors/artifact_recorder.hpp"

#include "messages/set_kind.hpp"
#include "tests/support/deterministic.hpp"

#include <doctest/doctest.h>

namespace artifact_recorder_test {

using namespace hearth;

namespace {

struct recorder : test::deterministic {
  recorder()
      : actor(keep(system.spawn(actors::artifact_recorder, 0))) {}

  std::uint64_t begin(std::uint64_t bytes = 1000, std::uint64_t artifacts = 10) {
    return *ask<std::uint64_t>(actor, verb::begin_v, bytes, artifacts);
  }
  void record(std::uint64_t session, const char* name, const char* value) {
    self->send(actor, verb::save_v, session, std::string("entry"), key_of(name),
               artifact::make(value));
  }
  cache_key key_of(const char* name) const { return {cache, key(name).encoded()}; }
  expected<recording> finish(std::uint64_t session) {
    return ask<recording>(actor, verb::finish_v, session);
  }

  const cache_id id = *cache_id::make("graphs");
  const named_cache_ptr cache = std::make_shared<const named_cache>(named_cache{id, 0, id.seed()});
  artifact_recorder_actor actor;
};

} // namespace

TEST_CASE_FIXTURE(recorder, "recorder: each artifact is noted once in its latest form") {
  const auto session = begin();
  record(session, "one", "1");
  record(session, "two", "2");
  record(session, "one", "newer");
  CHECK(*ask<std::uint64_t>(actor, verb::count_v, session) == 2);
  const auto noted = finish(session);
  REQUIRE(noted);
  REQUIRE(noted->artifacts.size() == 2);
  CHECK(noted->artifacts[0].value.payload() == "newer");
  CHECK(noted->artifacts[0].type == "entry");
  CHECK(noted->artifacts[1].value.payload() == "2");
  CHECK(noted->bytes == 4 + 5 + 4 + 1); // keys of four bytes
  CHECK(noted->left_out == 0);
}

TEST_CASE_FIXTURE(recorder, "recorder: sessions do not see each other and types are apart") {
  const auto one = begin();
  const auto two = begin();
  CHECK(one != two);
  record(one, "k", "first session");
  self->send(actor, verb::save_v, two, std::string("weights"), key_of("k"), artifact::make("w"));
  record(two, "k", "second session");
  CHECK(finish(one)->artifacts.size() == 1);
  const auto noted = finish(two);
  REQUIRE(noted->artifacts.size() == 2);
  CHECK(noted->artifacts[0].type == "weights");
  CHECK(noted->artifacts[1].value.payload() == "second session");
}

TEST_CASE_FIXTURE(recorder, "recorder: artifacts beyond a session's bounds are counted not kept") {
  const auto session = begin(20, 2);
  record(session, "a", "12345"); // 7 bytes
  record(session, "b", "far too long for it");
  record(session, "c", "1234567");       // 16 in all
  record(session, "a", "1234567890123"); // the old version stays: the newer one does not fit
  record(session, "d", "");              // a third artifact
  const auto noted = finish(session);
  CHECK(noted->artifacts.size() == 2);
  CHECK(noted->artifacts[0].value.payload() == "12345");
  CHECK(noted->bytes == 16);
  CHECK(noted->left_out == 3);
}

TEST_CASE_FIXTURE(recorder, "recorder: a set that is noted again is the union") {
  const auto session = begin();
  const auto note = [&](const char* member) {
    member_set one;
    one.add({member, "guard"});
    self->send(actor, verb::save_v, session, std::string("graph"),
               derived_key(key_of("k"), key(variant_sets.part)), artifact::make(encode(one)));
  };
  note("first");
  note("second");
  const auto noted = finish(session);
  REQUIRE(noted->artifacts.size() == 1);
  const auto members = decode_members(noted->artifacts[0].value.payload());
  REQUIRE(members);
  CHECK(members->size() == 2);
}

TEST_CASE_FIXTURE(recorder, "recorder: a session ends once and a late note is ignored") {
  const auto session = begin();
  CHECK(finish(session)->artifacts.empty());
  record(session, "late", "x");
  CHECK(finish(session).error().code() == errc::not_found);
  CHECK(ask<std::uint64_t>(actor, verb::count_v, session).error().code() == errc::not_found);
  CHECK(begin() == session + 1);
}

} // namespace artifact_recorder_test
