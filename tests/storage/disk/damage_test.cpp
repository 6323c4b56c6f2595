// Damage: files of a store are cut, flipped, or filled with noise. Whatever is served is what was
// stored; what is damaged is reported once and can be stored again; the rest stays.
#include "storage/disk/format.hpp"
#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/faulty_file_system.hpp"
#include "tests/support/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

using namespace hearth;
using namespace hearth::test;
using storage::read_status;
using storage::write_status;
namespace fs = std::filesystem;

namespace {

std::string value_of(int i) { return noise(40 + static_cast<std::size_t>(i) * 9, 8); }
constexpr int entries = 12;

// A small closed store, and its files as they were.
struct sample {
  temporary_directory directory;
  storage::store_options options = small_store(directory.path());
  std::map<fs::path, std::string> files;

  sample() {
    options.segment_bytes = 64u << 10;
    {
      auto store = open_store(options);
      for (int i = 0; i < entries; ++i)
        insert(*store, numbered(i), value_of(i), "\x80");
    }
    for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
      if (entry.is_regular_file()) files[entry.path()] = file_text(entry.path());
  }
  void restore() const {
    std::vector<fs::path> extra;
    for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
      if (entry.is_regular_file() && !files.contains(entry.path())) extra.push_back(entry.path());
    for (const auto& path : extra)
      fs::remove(path);
    for (const auto& [path, bytes] : files)
      write_text(path, bytes);
  }
  fs::path path(const char* name) const { return directory / "v1/shards/00" / name; }

  // Opens it and looks at every entry: right, or not there. Returns how many are right.
  int check() const {
    auto store = open_store(options);
    REQUIRE(store);
    int right = 0;
    for (int i = 0; i < entries; ++i) {
      const auto text = text_of(*store, numbered(i));
      if (text == value_of(i)) {
        ++right;
        continue;
      }
      REQUIRE((text == "<miss>" || text == "<corrupt>"));
      REQUIRE(text_of(*store, numbered(i)) == "<miss>");
      REQUIRE(insert(*store, numbered(i), value_of(i)) == write_status::inserted);
      REQUIRE(text_of(*store, numbered(i)) == value_of(i));
    }
    return right;
  }
};

int used_bytes(const sample& one) {
  const auto& bytes = one.files.at(one.path("000001.seg"));
  auto end = bytes.size();
  while (end > 0 && bytes[end - 1] == 0)
    --end;
  return static_cast<int>(end);
}

} // namespace

TEST_CASE("a segment cut at any byte serves the entries before the cut and no others") {
  const sample one;
  const auto path = one.path("000001.seg");
  const auto whole = one.files.at(path);
  const int used = used_bytes(one);
  int before = -1;
  // Every byte of the first records, and then every 7th: the suite is to stay quick.
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

TEST_CASE("an index cut at any byte costs nothing but a rebuild") {
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

TEST_CASE("a head cut at any byte costs nothing but a rebuild") {
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

TEST_CASE("a flipped bit of a segment costs at most the entry it is in") {
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

TEST_CASE("damage under an open store is reported once and heals") {
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

TEST_CASE("verify finds damage and repair puts it right") {
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

TEST_CASE("a segment whose maker was killed before it wrote there is no damage") {
  const sample one;
  write_text(one.path("000002.seg"), "");
  write_text(one.path("000003.seg"), std::string(8192, '\0'));
  auto store = open_store(one.options);
  CHECK(store->verify(false)->intact());
  write_text(one.path("000003.seg"), std::string(8192, 'x'));
  CHECK_FALSE(store->verify(false)->intact());
}

TEST_CASE("the image of a record inside a value is never taken for one") {
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

// -- the long forms: HEARTH_DAMAGE_STRIDE=1 cuts at every byte, HEARTH_DAMAGE_ROUNDS=N damages N
//    times

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The small store with one large value more, which has a segment of its own, and where each entry
// lies.
struct rich_sample {
  sample one;
  std::string large = noise(20000, 77);
  struct extent {
    fs::path path;
    std::size_t begin, end;
  };
  std::map<std::string, extent> extents;

  rich_sample() {
    {
      auto store = open_store(one.options);
      insert(*store, "large", large, "\x80");
    }
    one.files.clear();
    for (const auto& entry : fs::recursive_directory_iterator(one.directory.path()))
      if (entry.is_regular_file()) one.files[entry.path()] = file_text(entry.path());
    for (const auto& [path, bytes] : one.files) {
      if (path.extension() != ".seg") continue;
      for (int i = 0; i < entries; ++i)
        find(path, bytes, numbered(i), value_of(i));
      find(path, bytes, "large", large);
    }
    REQUIRE(extents.size() == entries + 1);
  }
  void find(const fs::path& path, const std::string& bytes, const std::string& key,
            const std::string& value) {
    const auto at = bytes.find(value);
    if (at == std::string::npos) return;
    const auto& cache = test_cache();
    constexpr std::size_t metadata_bytes = 1;
    const auto front = sizeof(storage::disk::record_header) + cache.name().size() +
                       cache.version().size() + key.size() + metadata_bytes;
    REQUIRE((at - front) % storage::disk::unit_bytes == 0);
    extents[key] = {path, at - front, at + value.size()};
  }
  std::string value(const std::string& key) const {
    return key == "large" ? large : value_of(std::stoi(key.substr(3)));
  }
  // Keys whose bytes differ from what they were.
  std::vector<std::string> harmed(const std::map<fs::path, std::string>& now) const {
    std::vector<std::string> keys;
    for (const auto& [key, where] : extents) {
      const auto& before = one.files.at(where.path);
      const auto& after = now.at(where.path);
      const auto length = where.end - where.begin;
      if (after.size() < where.end ||
          before.compare(where.begin, length, after, where.begin, length) != 0)
        keys.push_back(key);
    }
    return keys;
  }
};

} // namespace

TEST_CASE("any file of a store cut at any byte costs only what was cut off") {
  const rich_sample rich;
  const auto& one = rich.one;
  const auto stride = number_from("HEARTH_DAMAGE_STRIDE", 611);
  std::uint64_t cuts = 0;
  for (const auto& [path, whole] : one.files) {
    auto used = whole.size();
    while (used > 0 && whole[used - 1] == 0 && path.extension() == ".seg")
      --used;
    for (std::size_t at = 0; at < used; at += stride) {
      CAPTURE(path);
      CAPTURE(at);
      one.restore();
      auto now = one.files;
      now[path].resize(at);
      write_text(path, now[path]);
      const auto harmed = rich.harmed(now);
      auto store = open_store(one.options);
      REQUIRE(store);
      for (const auto& [key, where] : rich.extents) {
        const auto text = text_of(*store, key);
        const bool is_harmed = std::find(harmed.begin(), harmed.end(), key) != harmed.end();
        CAPTURE(key);
        REQUIRE(
            (text == rich.value(key) || (is_harmed && (text == "<miss>" || text == "<corrupt>"))));
      }
      REQUIRE(store->verify(true));
      REQUIRE(store->verify(false)->intact());
      ++cuts;
    }
  }
  MESSAGE("cuts: " << cuts);
}

TEST_CASE("flipped bits and swapped pages are found and cost only the entries they are in") {
  const rich_sample rich;
  const rich_sample other; // of another store
  const auto& one = rich.one;
  std::vector<fs::path> paths;
  for (const auto& [path, bytes] : one.files)
    if (!bytes.empty()) paths.push_back(path);
  std::vector<std::string> foreign;
  for (const auto& [path, bytes] : other.one.files)
    if (bytes.size() >= 512) foreign.push_back(bytes);
  const auto rounds = number_from("HEARTH_DAMAGE_ROUNDS", 300);
  std::mt19937_64 random(number_from("HEARTH_DAMAGE_SEED", 12));
  std::uint64_t flips = 0, swaps = 0, found = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    auto now = one.files;
    bool only_segments = true;
    std::string what; // was done, for whoever looks at a failure
    CAPTURE(what);
    const auto damages = 1 + random() % 3;
    for (std::uint64_t i = 0; i < damages; ++i) {
      const auto& path = paths[random() % paths.size()];
      auto& bytes = now[path];
      only_segments = only_segments && path.extension() == ".seg";
      const std::size_t unit = random() % 2 ? 512 : 4096;
      if (random() % 2 || bytes.size() < unit) {
        const auto at = random() % bytes.size();
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        what += "flip " + path.string() + ":" + std::to_string(at) + "; ";
        ++flips;
        continue;
      }
      auto& second_path = paths[random() % paths.size()];
      auto& second = random() % 3 == 0 ? foreign[random() % foreign.size()] : now[second_path];
      only_segments = only_segments && second_path.extension() == ".seg";
      // A whole description of another store makes it another store.
      const bool is_foreign = &second != &now[second_path];
      if (second.size() < unit || (is_foreign && unit == 4096 && path.filename() == "store"))
        continue;
      const auto here = random() % (bytes.size() / unit) * unit;
      const auto there = random() % (second.size() / unit) * unit;
      const auto page = bytes.substr(here, unit);
      bytes.replace(here, unit, second.substr(there, unit));
      if (random() % 2) second.replace(there, unit, page);
      what += "page " + path.string() + ":" + std::to_string(here) + " from " +
              (is_foreign ? "another store" : second_path.string()) + ":" + std::to_string(there) +
              " of " + std::to_string(unit) + "; ";
      ++swaps;
    }
    one.restore();
    for (const auto& [path, bytes] : now)
      if (bytes != one.files.at(path)) write_text(path, bytes);
    const auto harmed = rich.harmed(now);
    auto store = open_store(one.options);
    REQUIRE(store);
    const auto report = store->verify(false);
    REQUIRE(report);
    if (only_segments && !harmed.empty()) {
      REQUIRE_FALSE(report->intact());
      ++found;
    }
    if (random() % 2) REQUIRE(store->verify(true));
    for (const auto& [key, where] : rich.extents) {
      const auto text = text_of(*store, key);
      const bool is_harmed = std::find(harmed.begin(), harmed.end(), key) != harmed.end();
      CAPTURE(key);
      REQUIRE(
          (text == rich.value(key) || (is_harmed && (text == "<miss>" || text == "<corrupt>"))));
      if (text == rich.value(key)) continue;
      REQUIRE(text_of(*store, key) == "<miss>");
      REQUIRE(insert(*store, key, rich.value(key)) == write_status::inserted);
      REQUIRE(text_of(*store, key) == rich.value(key));
    }
    REQUIRE(store->verify(true));
    REQUIRE(store->verify(false)->intact());
  }
  MESSAGE("rounds: " << rounds << ", flips: " << flips << ", swaps: " << swaps
                     << ", damage found by verify: " << found);
}

TEST_CASE("damage under a reader that has the files mapped is never served") {
  const rich_sample rich;
  const auto& one = rich.one;
  std::mt19937_64 random(21);
  const auto rounds = number_from("HEARTH_DAMAGE_ROUNDS", 300) / 3;
  auto options = one.options;
  options.guard_sigbus = true;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    one.restore();
    auto store = open_store(options);
    for (const auto& [key, where] : rich.extents)
      REQUIRE(text_of(*store, key) == rich.value(key));
    for (const auto& [key, where] : rich.extents) {
      const auto at = where.begin + random() % (where.end - where.begin);
      if (random() % 4 == 0) {
        std::fstream out(where.path, std::ios::in | std::ios::out | std::ios::binary);
        out.seekp(static_cast<std::streamoff>(at));
        out.put(static_cast<char>(one.files.at(where.path)[at] ^ (1 << random() % 8)));
      }
      if (random() % 40 == 0) fs::resize_file(where.path, at);
    }
    for (int again = 0; again < 2; ++again)
      for (const auto& [key, where] : rich.extents) {
        const auto text = text_of(*store, key);
        const bool right = text == rich.value(key) || text[0] == '<';
        CAPTURE(key);
        REQUIRE(right);
        if (again && text[0] == '<') REQUIRE(text != "<corrupt>");
      }
    for (const auto& [key, where] : rich.extents) {
      put(*store, key, rich.value(key));
      REQUIRE(text_of(*store, key) == rich.value(key));
    }
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
