// Damage: files of a store are cut, flipped, or filled with noise. Every value served is the stored
// one; a damaged entry is reported once and can be inserted again; the others stay.
#include "storage/disk/format.hpp"
#include "tests/storage/disk/damage_sample.hpp"
#include "tests/support/faulty_file_system.hpp"

#include <algorithm>
#include <fstream>
#include <random>

namespace damage_test {

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_status;
namespace fs = std::filesystem;

namespace {

int used_bytes(const sample& one) {
  const auto& bytes = one.files.at(one.path("000001.seg"));
  auto end = bytes.size();
  while (end > 0 && bytes[end - 1] == 0)
    --end;
  return static_cast<int>(end);
}

} // namespace

TEST_CASE("a segment cut at any byte serves exactly the entries before the cut") {
  const sample one;
  const auto path = one.path("000001.seg");
  const auto whole = one.files.at(path);
  const int used = used_bytes(one);
  int before = -1;
  // Every byte of the first records, then every 7th, to keep the suite fast.
  for (int at = 0; at <= used; at += at < 400 ? 1 : 7) {
    CAPTURE(at);
    one.restore();
    write_text(path, std::string_view(whole).substr(0, static_cast<std::size_t>(at)));
    const int right = one.check();
    REQUIRE(right >= before);
    before = right;
  }
  CHECK(before >= entries - 1);
}

TEST_CASE("an index cut at any byte causes only a rebuild") {
  const sample one;
  const auto path = one.path("index.1");
  const auto whole = one.files.at(path);
  for (std::size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 509) {
    CAPTURE(at);
    one.restore();
    write_text(path, std::string_view(whole).substr(0, at));
    REQUIRE(one.check() == entries);
  }
}

TEST_CASE("a head cut at any byte causes only a rebuild") {
  const sample one;
  const auto path = one.path("head");
  const auto whole = one.files.at(path);
  for (std::size_t at = 0; at < whole.size(); at += at < 300 ? 3 : 509) {
    CAPTURE(at);
    one.restore();
    write_text(path, std::string_view(whole).substr(0, at));
    REQUIRE(one.check() == entries);
  }
}

TEST_CASE("a flipped bit of the head or the index loses no entry") {
  const sample one;
  std::mt19937_64 random(3);
  for (const char* name : {"head", "index.1"}) {
    const auto whole = one.files.at(one.path(name));
    for (int round = 0; round < 120; ++round) {
      one.restore();
      auto bytes = whole;
      const auto range = std::string_view(name) == "head" ? 256 : bytes.size();
      const auto at = random() % range;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
      CAPTURE(name);
      CAPTURE(at);
      write_text(one.path(name), bytes);
      REQUIRE(one.check() == entries);
    }
  }
}

TEST_CASE("a flipped bit of a segment loses at most the entry it is in") {
  const sample one;
  const auto path = one.path("000001.seg");
  const auto whole = one.files.at(path);
  std::mt19937_64 random(4);
  const auto used = static_cast<std::uint64_t>(used_bytes(one));
  for (int round = 0; round < 300; ++round) {
    one.restore();
    auto bytes = whole;
    const auto at = 64 + random() % (used - 64);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    CAPTURE(at);
    write_text(path, bytes);
    REQUIRE(one.check() >= entries - 1);
  }
}

TEST_CASE("noise in any file of a store is never served") {
  const sample one;
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    one.restore();
    for (const auto& [path, whole] : one.files) {
      if (random() % 2 != 0 || whole.empty()) continue;
      auto bytes = whole;
      const auto begin = random() % bytes.size();
      const auto length = std::min<std::size_t>(1 + random() % 5000, bytes.size() - begin);
      bytes.replace(begin, length, noise(length, random()));
      write_text(path, bytes);
    }
    one.check();
  }
}

TEST_CASE("damage under an open store is reported once and can be overwritten") {
  const sample one;
  auto store = open_store(one.options);
  REQUIRE(text_of(*store, numbered(3)) == value_of(3));
  auto bytes = file_text(one.path("000001.seg"));
  const auto at = bytes.find(value_of(3));
  REQUIRE(at != std::string::npos);
  {
    std::fstream out(one.path("000001.seg"), std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at + 5));
    out.put(static_cast<char>(bytes[at + 5] ^ 64));
  }
  CHECK(get(*store, numbered(3)).status == read_status::corrupt);
  CHECK(get(*store, numbered(3)).status == read_status::miss);
  CHECK(store->stats().corrupt == 1);
  CHECK(text_of(*store, numbered(4)) == value_of(4));
  CHECK(insert(*store, numbered(3), "new") == write_status::inserted);
  CHECK(text_of(*store, numbered(3)) == "new");
  CHECK(open_store(one.options)->stats().rebuilds == 0);
}

TEST_CASE("verify finds damage and repair fixes it") {
  const sample one;
  auto bytes = one.files.at(one.path("000001.seg"));
  bytes[bytes.find(value_of(3)) + 5] ^= 64;
  write_text(one.path("000001.seg"), bytes);
  auto store = open_store(one.options);
  auto found = store->verify(false);
  REQUIRE(found);
  CHECK_FALSE(found->intact());
  CHECK(found->damaged == 1);
  CHECK(found->dangling == 1);
  CHECK(found->findings.size() == 2);
  auto repaired = store->verify(true);
  REQUIRE(repaired);
  CHECK(repaired->repaired == 2);
  auto after = store->verify(false);
  CHECK(after->intact());
  CHECK(after->findings.empty());
  CHECK(text_of(*store, numbered(3)) == "<miss>");
  CHECK(text_of(*store, numbered(4)) == value_of(4));
}

TEST_CASE("a segment whose writer was killed before its first write is no damage") {
  const sample one;
  write_text(one.path("000002.seg"), "");
  write_text(one.path("000003.seg"), std::string(8192, '\0'));
  auto store = open_store(one.options);
  CHECK(store->verify(false)->intact());
  write_text(one.path("000003.seg"), std::string(8192, 'x'));
  CHECK_FALSE(store->verify(false)->intact());
}

TEST_CASE("the image of a record inside a value is never read as a record") {
  const temporary_directory directory;
  auto options = small_store(directory.path());
  std::string image;
  {
    auto store = open_store(options);
    insert(*store, "inner", "secret");
    put(*store, "inner", "newer");
    store.reset();
    image = file_text(directory / "v1/shards/00/000001.seg").substr(0, 4096);
  }
  {
    auto store = open_store(options);
    // The value starts at every offset within a unit, so that some image is aligned.
    for (std::size_t shift = 0; shift < 16; ++shift)
      insert(*store, "outer" + std::to_string(shift), std::string(shift, '.') + image);
    erase(*store, "inner");
  }
  fs::resize_file(directory / "v1/shards/00/head", 0);
  fs::remove(directory / "v1/clean");
  auto store = open_store(options);
  CHECK(store->stats().rebuilds == 1);
  CHECK(text_of(*store, "inner") == "<miss>");
  CHECK(keys_of(*store).size() == 16);
}

TEST_CASE("a segment cut underneath a reader is a miss when the guard is on") {
  const sample one;
  auto options = one.options;
  options.guard_sigbus = true;
  auto store = open_store(options);
  REQUIRE(text_of(*store, numbered(0)) == value_of(0));
  fs::resize_file(one.path("000001.seg"), 0);
  for (int i = 0; i < entries; ++i) {
    const auto status = get(*store, numbered(i)).status;
    CHECK((status == read_status::corrupt || status == read_status::unreadable));
    CHECK(get(*store, numbered(i)).status != read_status::hit);
  }
  CHECK(store->stats().corrupt + store->stats().unreadable >= entries);
}

TEST_CASE("an index and a head cut underneath end no process when the guard is on") {
  for (const char* name : {"index.1", "head"}) {
    const sample one;
    auto options = one.options;
    options.guard_sigbus = true;
    auto store = open_store(options);
    REQUIRE(text_of(*store, numbered(0)) == value_of(0));
    fs::resize_file(one.path(name), 0);
    CHECK(get(*store, numbered(0)).status != read_status::corrupt);
    write(*store, storage::write_kind::insert, "k", "v");
    store.reset();
    CHECK(one.check() >= entries);
  }
}

TEST_CASE("a damaged entry is reported once through a handle that may only read") {
  const sample one;
  auto bytes = one.files.at(one.path("000001.seg"));
  bytes[bytes.find(value_of(3)) + 5] ^= 1;
  write_text(one.path("000001.seg"), bytes);
  auto options = one.options;
  options.read_only = true;
  auto reader = open_store(options);
  CHECK(get(*reader, numbered(3)).status == read_status::corrupt);
  CHECK(get(*reader, numbered(3)).status == read_status::miss);
  CHECK(text_of(*reader, numbered(4)) == value_of(4));
  CHECK(reader->stats().corrupt == 1);
}

} // namespace damage_test
