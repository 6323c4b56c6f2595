// Memory tiers over one store. Another process may change an entry between the question to the disk
// and its answer; a value that memory keeps from the answer must not hide that change.
#include "tests/support/tiers.hpp"

namespace epochs_test {

using namespace hearth;
using namespace hearth::test;

namespace {

struct fixture : deterministic {
  temporary_directory directory;
  tiers one{*this, directory.path()};
  tiers two{*this, directory.path()};

  fixture() {
    // An epoch belongs to a disk shard, in every process. Keys that share one are called
    // neighbours.
    REQUIRE(one.store->shards() == two.store->shards());
  }

  /// Another process puts a new value, and this process takes in the change.
  std::function<void()> put_elsewhere(const cache_key& key, std::string_view payload) {
    return [this, key, payload] {
      storage::write_request request{storage::write_kind::put, storage::entry_key(key)};
      request.value = artifact::make(payload);
      two.store->apply(two.store->shard_of(key.disk_hash), {&request, 1});
      CHECK(request.status == storage::write_status::stored);
    };
  }
  std::function<void()> put_and_take_in(const cache_key& key, std::string_view payload) {
    return [this, key, payload, elsewhere = put_elsewhere(key, payload)] {
      elsewhere();
      one.view->refresh();
    };
  }
  /// A key in the same disk shard as `key`.
  cache_key neighbour_of(const cache_key& key) const {
    for (int i = 0;; ++i) {
      auto other = key_in("c", "neighbour" + std::to_string(i));
      if (one.store->shard_of(other.disk_hash) == one.store->shard_of(key.disk_hash)) return other;
    }
  }
  std::string payload_of(const cache_key& key) {
    const auto found = ask<lookup>(one.shard, verb::get_v, key);
    return found && found->hit() ? std::string(found->value.payload()) : "<miss>";
  }
};

} // namespace

TEST_CASE_FIXTURE(fixture,
                  "a put of a new key does not hide another process's put of that moment") {
  const auto k = key_in("c", "k");
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, k, artifact::make("old")));
  CHECK(payload_of(k) == "old");
  // A put of a new key moves no epoch; the put of the other process moves it by one.
  one.meddled->before_apply = put_elsewhere(k, "new");
  CHECK(ask<done>(one.shard, verb::put_v, neighbour_of(k), artifact::make("x")));
  CHECK(payload_of(k) == "new");
}

TEST_CASE_FIXTURE(fixture, "an inserted value that was replaced before its answer is not kept") {
  const auto k = key_in("c", "k");
  one.meddled->after_apply = put_and_take_in(k, "new");
  CHECK(*ask<insert_outcome>(one.shard, verb::insert_v, k, artifact::make("old")) ==
        insert_outcome::inserted);
  CHECK(payload_of(k) == "new");
}

TEST_CASE_FIXTURE(fixture, "a put value that was replaced before its answer is not kept") {
  const auto k = key_in("c", "k");
  CHECK(ask<done>(one.shard, verb::put_v, k, artifact::make("oldest")));
  one.meddled->after_apply = put_and_take_in(k, "new");
  CHECK(ask<done>(one.shard, verb::put_v, k, artifact::make("old")));
  CHECK(payload_of(k) == "new");
}

TEST_CASE_FIXTURE(fixture, "a group of puts leaves other entries in memory") {
  const auto k = key_in("c", "k");
  const auto a = neighbour_of(k);
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, k, artifact::make("v")));
  CHECK(ask<insert_outcome>(one.shard, verb::insert_v, a, artifact::make("v")));
  const auto shard = one.store->shard_of(k.disk_hash);
  const auto before = one.store->epoch(shard);
  int groups = 0;
  const std::function<void()> count = [&] {
    ++groups;
    one.meddled->before_apply = count;
  };
  one.meddled->before_apply = count;
  // Both puts reach the disk shard in one group, which moves the epoch once for each.
  caf::anon_send(one.shard, verb::put_v, a, artifact::make("w"),
                 done_completion(std::make_shared<completion_state<done>>()));
  CHECK(ask<done>(one.shard, verb::put_v, a, artifact::make("x")));
  one.meddled->before_apply = nullptr;
  CHECK(groups == 1);
  CHECK(one.store->epoch(shard) == before + 2);
  CHECK(ask<lookup>(one.shard, verb::get_v, k)->from == tier::memory);
  CHECK(payload_of(a) == "x");
}

} // namespace epochs_test
