#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/lacks_root.hpp"

#include <fcntl.h>
#include <fstream>
#include <functional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace open_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

errc error_of(const storage::store_options& options) {
  auto opened = storage::store::open(options);
  return opened ? errc::internal : opened.error().code();
}

unsigned mode_of(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 ? about.st_mode & 0777u : 0;
}

} // namespace

TEST_CASE("temporary files that a power loss brought back do not block an open") {
  // Records the files that are created under a temporary name.
  class noting_files : public storage::file_system {
  public:
    int open_at(int folder, const char* name, int flags, mode_t mode) noexcept override {
      if ((flags & O_CREAT) != 0 && std::string_view(name).ends_with(".tmp")) names.insert(name);
      return file_system::open_at(folder, name, flags, mode);
    }
    std::set<std::string> names;
  };
  noting_files files;
  const temporary_directory directory;
  auto options = small_store(directory / "store");
  options.files = &files;
  const auto shard = directory / "store/v1/shards/00";
  for (int round = 0; round < 20; ++round) {
    const auto left = files.names;
    for (const auto& name : left)
      if (round > 0) std::ofstream(shard / name) << "left behind";
    fs::remove(shard / "head");
    auto store = open_store(options);
    REQUIRE(store);
    CHECK(put(*store, "large", noise(1u << 20, 1)) == storage::write_status::stored);
    for (const auto& name : left)
      CHECK_FALSE(fs::exists(shard / name));
    CHECK(files.names.size() == left.size() + 2); // one for a head and one for the value
  }
}

TEST_CASE("everything in a store is private to its user") {
  const temporary_directory directory;
  const auto umask_before = ::umask(0);
  {
    auto store = open_store(small_store(directory / "a" / "store"));
    insert(*store, "k", noise(1u << 20, 1));
    insert(*store, "l", "x");
    auto leases = store->open_leases();
  }
  ::umask(umask_before);
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory / "a" / "store")) {
    ++seen;
    CAPTURE(entry.path());
    CHECK(mode_of(entry.path()) == (entry.is_directory() ? 0700u : 0600u));
  }
  CHECK(seen >= 8);
}

TEST_CASE("a store that is open to others is refused") {
  const temporary_directory directory;
  open_store(small_store(directory / "store"));
  ::chmod((directory / "store" / "v1").c_str(), 0750);
  CHECK(error_of(small_store(directory / "store")) == errc::permission);
  ::chmod((directory / "store" / "v1").c_str(), 0700);
  ::chmod((directory / "store").c_str(), 0777);
  CHECK(error_of(small_store(directory / "store")) == errc::permission);
  ::chmod((directory / "store").c_str(), 0755);
  CHECK(open_store(small_store(directory / "store")));
}

TEST_CASE("a store of another user is refused" * doctest::skip(lacks_root())) {
  const temporary_directory directory;
  open_store(small_store(directory / "store"));
  REQUIRE(::chown((directory / "store" / "v1").c_str(), 4242, 4242) == 0);
  CHECK(error_of(small_store(directory / "store")) == errc::permission);
  REQUIRE(::chown((directory / "store" / "v1").c_str(), 0, 0) == 0);
  REQUIRE(::chown((directory / "store").c_str(), 4242, 4242) == 0);
  CHECK(error_of(small_store(directory / "store")) == errc::permission);
}

TEST_CASE("symbolic links are not followed") {
  const temporary_directory directory;
  open_store(small_store(directory / "real"));
  fs::create_symlink(directory / "real", directory / "link");
  CHECK(error_of(small_store(directory / "link")) == errc::permission);
  fs::create_directory(directory / "store");
  fs::create_symlink(directory / "real" / "v1", directory / "store" / "v1");
  CHECK(error_of(small_store(directory / "store")) == errc::permission);
  fs::rename(directory / "real/v1/shards/00/head", directory / "head");
  fs::create_symlink(directory / "head", directory / "real/v1/shards/00/head");
  CHECK_FALSE(storage::store::open(small_store(directory / "real")));
}

TEST_CASE("a store below a folder that is missing is an error that says what to make") {
  temporary_directory directory;
  fs::create_directory_symlink("nowhere", directory / "link");
  const auto refused = storage::store::open(small_store(directory / "link" / "store"));
  REQUIRE_FALSE(refused);
  CAPTURE(refused.error().text());
  CHECK(refused.error().text().find("a folder of this path is missing or was removed: make it") !=
        std::string::npos);
}

TEST_CASE("a network or unknown file system is refused with a hint") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = small_store(directory.path());
  options.files = &files;
  for (const long type : {0x6969L, 0x01021997L, 0x65735546L, 0x6a656a63L, 0xFF534D42L}) {
    files.pretend_type(type);
    auto refused = storage::store::open(options);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == errc::unsupported);
    CHECK(refused.error().text().find("remote tier") != std::string::npos);
  }
  for (const long type : {0xEF53L, 0x58465342L, 0x9123683EL, 0x01021994L, 0x794C7630L}) {
    files.pretend_type(type);
    CHECK(open_store(options));
  }
}

TEST_CASE("the description survives damage and even its removal") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  options.shards = 2;
  { insert(*open_store(options), "k", "v"); }
  const auto path = directory / "v1/store";
  options.shards = 4; // applies to a new store only
  {
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    out << noise(1500, 3);
  }
  CHECK(open_store(options)->shards() == 2);
  fs::resize_file(path, 0);
  CHECK(text_of(*open_store(options), "k") == "v");
  fs::remove(path);
  auto store = open_store(options);
  CHECK(store->shards() == 2);
  CHECK(text_of(*store, "k") == "v");
}

TEST_CASE("a copied store is rebuilt and works beside the original") {
  const temporary_directory directory;
  auto original = open_store(small_store(directory / "one"));
  insert(*original, "k", "v");
  fs::copy(directory / "one", directory / "two", fs::copy_options::recursive);
  for (const auto& entry : fs::recursive_directory_iterator(directory / "two"))
    ::chmod(entry.path().c_str(), entry.is_directory() ? 0700 : 0600);
  auto copy = open_store(small_store(directory / "two"));
  CHECK(copy->stats().rebuilds == 1);
  CHECK(text_of(*copy, "k") == "v");
  insert(*copy, "only here", "x");
  CHECK(text_of(*original, "only here") == "<miss>");
}

TEST_CASE("after a restart a clean store is trusted and an unclean one rebuilt") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = small_store(directory.path());
  options.files = &files;
  files.pretend_boot("first");
  { insert(*open_store(options), "k", "v"); }
  CHECK(fs::exists(directory / "v1/clean"));
  files.pretend_boot("second");
  {
    auto store = open_store(options);
    CHECK(store->stats().rebuilds == 0);
    CHECK(text_of(*store, "k") == "v");
    insert(*store, "l", "w");
    CHECK_FALSE(fs::exists(directory / "v1/clean"));
  }
  fs::remove(directory / "v1/clean");
  files.pretend_boot("third");
  auto store = open_store(options);
  CHECK(store->stats().rebuilds == 1);
  CHECK(text_of(*store, "k") == "v");
  CHECK(text_of(*store, "l") == "w");
}

TEST_CASE("only the last process to close marks the store clean") {
  const temporary_directory directory;
  const auto options = small_store(directory.path());
  auto one = open_store(options);
  auto two = open_store(options);
  insert(*one, "k", "v");
  insert(*two, "l", "w");
  one.reset();
  CHECK_FALSE(fs::exists(directory / "v1/clean"));
  two.reset();
  CHECK(fs::exists(directory / "v1/clean"));
}

TEST_CASE("a reader without write access rebuilds for itself alone") {
  const temporary_directory directory;
  faulty_file_system files;
  auto options = small_store(directory.path());
  options.files = &files;
  files.pretend_boot("first");
  {
    auto store = open_store(options);
    for (int i = 0; i < 300; ++i)
      insert(*store, "key" + std::to_string(i), "v");
    erase(*store, "key5");
  }
  fs::remove(directory / "v1/clean");
  files.pretend_boot("second");
  options.read_only = true;
  auto reader = open_store(options);
  CHECK(reader->stats().rebuilds == 1);
  CHECK(text_of(*reader, "key7") == "v");
  CHECK(text_of(*reader, "key5") == "<miss>");
  CHECK(keys_of(*reader).size() == 299);
  options.read_only = false;
  CHECK(open_store(options)->stats().rebuilds == 1);
}

TEST_CASE("the default budget is a tenth of the free space plus the store's own size") {
  const temporary_directory directory;
  class tight : public faulty_file_system {
    std::uint64_t free_bytes(int) noexcept override { return std::uint64_t{1} << 30; }
  } files;
  auto options = small_store(directory.path());
  options.files = &files;
  options.budget_bytes = 0;
  const auto budget = open_store(options)->stats().budget_bytes;
  CHECK(budget >= (std::uint64_t{1} << 30) / 10);
  CHECK(budget <= (std::uint64_t{1} << 30) / 10 + 4096); // a tenth of its own size
}

TEST_CASE(
    "two processes can create a store at once although one removes the other's unfinished head") {
  const temporary_directory directory;
  class late : public storage::file_system {
  public:
    std::function<void(int folder, const char* unfinished)> before_link;
    int link_at(int folder, const char* from, const char* to) noexcept override {
      if (std::string_view(to) == "head" && before_link)
        std::exchange(before_link, nullptr)(folder, from);
      return storage::file_system::link_at(folder, from, to);
    }
  } files;
  std::unique_ptr<storage::store> first;
  files.before_link = [&](int folder, const char* unfinished) {
    first = open_store(small_store(directory.path()));
    files.remove_at(folder, unfinished); // like the cleanup when a shard is opened
  };
  auto options = small_store(directory.path());
  options.files = &files;
  auto second = open_store(options);
  REQUIRE(first);
  REQUIRE(insert(*first, "key", "value") == storage::write_status::inserted);
  CHECK(text_of(*second, "key") == "value");
}

} // namespace open_test
