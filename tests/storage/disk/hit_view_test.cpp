// The view of a store that finds entries only: what it finds, what it leaves alone, and when it
// leaves a shard to a whole store.
#include "storage/disk/store/hit_view.hpp"
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/files.hpp"

#include <map>
#include <set>

namespace hit_view_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::disk::hit_view;
namespace fs = std::filesystem;

namespace {

struct viewed_store {
  std::unique_ptr<hit_view> view() {
    auto opened = hit_view::open(options.directory, files);
    if (!opened) FAIL_CHECK(opened.error().to_string());
    return opened ? std::move(*opened) : nullptr;
  }
  static std::string text_in(hit_view& view, std::string_view key) {
    const auto found = view.get({test_cache(), key});
    if (!found) return "<shut>";
    return found->status == read_status::hit ? std::string(found->value.payload()) : "<miss>";
  }
  // The bytes of all files but the indexes, whose marks of hits change.
  std::map<std::string, std::string> bytes() const {
    std::map<std::string, std::string> all;
    for (const auto& one : fs::recursive_directory_iterator(options.directory)) {
      const auto name = one.path().filename().string();
      all[one.path().string()] =
          one.is_regular_file() && !name.starts_with("index") ? file_text(one.path()) : "";
    }
    return all;
  }

  temporary_directory directory;
  faulty_file_system files;
  storage::store_options options = [this] {
    auto made = small_store(directory / "store");
    made.files = &files;
    return made;
  }();
};

} // namespace

TEST_CASE_FIXTURE(viewed_store, "a hit view finds what is stored, and changes no file") {
  options.shards = 4;
  {
    const auto store = open_store(options);
    for (int i = 0; i < 100; ++i)
      REQUIRE(put(*store, numbered(i), noise(100, i)) == storage::write_status::stored);
  }
  const auto before = bytes();
  {
    const auto in = view();
    REQUIRE(in);
    for (int i = 0; i < 100; ++i)
      CHECK(text_in(*in, numbered(i)) == noise(100, i));
    CHECK(text_in(*in, "none") == "<miss>");
    CHECK(text_in(*in, "key1 ") == "<miss>");
  }
  CHECK(bytes() == before);
}

TEST_CASE_FIXTURE(viewed_store, "a hit view sees what others do meanwhile") {
  const auto store = open_store(options);
  put(*store, "a", "1");
  const auto in = view();
  REQUIRE(in);
  CHECK(text_in(*in, "a") == "1");
  put(*store, "a", "2");
  CHECK(text_in(*in, "a") == "2");
  for (int i = 0; i < 20'000; ++i) // the index grows
    put(*store, numbered(i), "v");
  CHECK(text_in(*in, "key19999") == "v");
  CHECK(text_in(*in, "a") == "2");
  erase(*store, "a");
  CHECK(text_in(*in, "a") == "<miss>");
  // Another view, beside the open store.
  CHECK(text_in(*view(), "key7") == "v");
}

TEST_CASE_FIXTURE(viewed_store, "what a hit view finds is kept by an eviction") {
  const auto filled = [&](bool is_viewed) {
    fs::remove_all(options.directory);
    options.budget_bytes = std::uint64_t{8} << 20;
    const auto store = open_store(options);
    for (int i = 0; i < 40; ++i)
      put(*store, numbered(i), noise(100'000, i));
    if (is_viewed) {
      const auto in = view();
      CHECK(text_in(*in, "key0") == noise(100'000, 0));
    }
    for (int i = 100; i < 140; ++i)
      put(*store, numbered(i), noise(100'000, i));
    (void)store->evict_to(std::uint64_t{6} << 20, {});
    return text_of(*store, "key0") != "<miss>";
  };
  CHECK_FALSE(filled(false));
  CHECK(filled(true));
}

TEST_CASE_FIXTURE(viewed_store, "a hit view leaves a shard that has to be put in order") {
  files.pretend_boot("first");
  {
    const auto store = open_store(options);
    put(*store, "a", "1");
    CHECK(text_in(*view(), "a") == "1");
  }
  // Another start of the machine: the clean mark says that the index is whole.
  files.pretend_boot("second");
  CHECK(text_in(*view(), "a") == "1");
  fs::remove(options.directory / "v1" / "clean");
  CHECK(text_in(*view(), "a") == "<shut>");
  open_store(options).reset();
  CHECK(text_in(*view(), "a") == "1");
  fs::remove(options.directory / "v1" / "shards" / "00" / "head");
  CHECK(text_in(*view(), "a") == "<shut>");
}

TEST_CASE_FIXTURE(viewed_store, "there is no hit view of what is no store") {
  CHECK_FALSE(hit_view::open(options.directory, files));
  CHECK_FALSE(fs::exists(options.directory));
  open_store(options).reset();
  fs::permissions(options.directory / "v1", fs::perms::all);
  CHECK(hit_view::open(options.directory, files).error().code() == errc::permission);
}

TEST_CASE_FIXTURE(viewed_store,
                  "a store that need not sync when it is closed does so once a minute") {
  class counting_files : public storage::file_system {
  public:
    int sync(int fd) noexcept override {
      ++syncs;
      return file_system::sync(fd);
    }
    int syncs = 0;
  };
  counting_files counting;
  options.files = &counting;
  options.syncs_when_closed = false;
  open_store(options).reset();
  const auto folder = options.directory / "v1";
  const auto syncs_of_a_put = [&](const char* key) {
    const auto before = counting.syncs;
    put(*open_store(options), key, "v");
    return counting.syncs - before;
  };
  // Only the removal of the clean mark is synced.
  CHECK(syncs_of_a_put("a") == 1);
  CHECK(syncs_of_a_put("b") == 1);
  CHECK_FALSE(fs::exists(folder / "clean"));
  const auto now = fs::last_write_time(folder);
  fs::last_write_time(folder, now - std::chrono::seconds(61));
  CHECK(syncs_of_a_put("c") > 2);
  CHECK(fs::exists(folder / "clean"));
  CHECK(syncs_of_a_put("d") == 1);
  const auto store = open_store(options);
  for (const auto* key : {"a", "b", "c", "d"})
    CHECK(text_of(*store, key) == "v");
}

} // namespace hit_view_test
