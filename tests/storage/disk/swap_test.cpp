#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <string>

namespace swap_test {

using namespace hearth;
using namespace hearth::test;
using storage::write_kind;
using storage::write_status;

write_status swap(storage::store& store, std::string_view key, std::string_view payload,
                  std::uint64_t read_sequence) {
  const storage::entry_key entry(test_cache(), key);
  storage::write_request request{write_kind::swap, entry};
  request.value = artifact::make(payload);
  request.read_sequence = read_sequence;
  store.apply(store.shard_of(entry.hash), {&request, 1});
  return request.status;
}

TEST_CASE("swap: stores only over the entry that was read") {
  const temporary_directory directory;
  auto store = open_store(small_store(directory.path()));
  CHECK(swap(*store, "k", "early", 7) == write_status::overtaken);
  CHECK(text_of(*store, "k") == "<miss>");
  CHECK(swap(*store, "k", "first", 0) == write_status::stored);
  CHECK(swap(*store, "k", "other", 0) == write_status::overtaken);
  const auto read = get(*store, "k").sequence;
  CHECK(swap(*store, "k", "second", read) == write_status::stored);
  CHECK(swap(*store, "k", "third", read) == write_status::overtaken);
  CHECK(text_of(*store, "k") == "second");
  CHECK(erase(*store, "k") == write_status::erased);
  CHECK(swap(*store, "k", "fourth", get(*store, "k").sequence) == write_status::stored);
}

TEST_CASE("swap: large values too, over small ones and over large ones") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.budget_bytes = 64u << 20;
  auto store = open_store(options);
  const auto large = noise(3u << 20, 5), larger = noise(4u << 20, 6);
  REQUIRE(put(*store, "k", "small") == write_status::stored);
  const auto small = get(*store, "k").sequence;
  CHECK(swap(*store, "k", large, small + 1) == write_status::overtaken);
  CHECK(swap(*store, "k", large, small) == write_status::stored);
  CHECK(swap(*store, "k", larger, small) == write_status::overtaken);
  CHECK(text_of(*store, "k") == large);
  CHECK(swap(*store, "k", larger, get(*store, "k").sequence) == write_status::stored);
  CHECK(text_of(*store, "k") == larger);
}

TEST_CASE("swap: processes that extend one entry at once lose nothing") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  constexpr int children_count = 4, additions = 100;
  std::vector<std::unique_ptr<child_process>> children;
  for (int child = 0; child < children_count; ++child)
    children.push_back(std::make_unique<child_process>([&, child] {
      auto store = open_store(options);
      for (int i = 0; i < additions; ++i) {
        const auto addition = std::to_string(child * additions + i) + " ";
        for (;;) {
          const auto found = get(*store, "list");
          const auto before = std::string(found.value.payload());
          const auto status = swap(*store, "list", before + addition, found.sequence);
          if (status == write_status::stored) break;
          if (status != write_status::overtaken) return 1;
        }
      }
      return 0;
    }));
  for (auto& child : children)
    CHECK(child->wait() == 0);
  auto store = open_store(options);
  const auto all = " " + text_of(*store, "list");
  for (int i = 0; i < children_count * additions; ++i)
    CHECK(all.find(" " + std::to_string(i) + " ") != std::string::npos);
  CHECK(store->verify(false)->intact());
}

} // namespace swap_test
