// Damage at many places of all files of a store. HEARTH_DAMAGE_STRIDE=1 cuts at every byte,
// HEARTH_DAMAGE_ROUNDS=N damages N times.
#include "storage/disk/format.hpp"
#include "tests/storage/disk/damage_sample.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

namespace damage_rounds_test {

using namespace hearth;
using namespace hearth::test;
using storage::write_status;
namespace fs = std::filesystem;

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The small store with one more large value in its own segment, and the location of each entry.
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
  // The keys whose bytes differ from the original ones.
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

TEST_CASE("any file of a store cut at any byte loses only the entries that were cut off") {
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

namespace {

// Flips bits and swaps pages of a store's files, in memory.
class random_damage {
public:
  random_damage(const rich_sample& rich, const rich_sample& other, std::uint64_t seed)
      : rich_(rich)
      , random_(seed) {
    for (const auto& [path, bytes] : rich.one.files)
      if (!bytes.empty()) paths_.push_back(path);
    for (const auto& [path, bytes] : other.one.files)
      if (bytes.size() >= 512) foreign_.push_back(bytes);
  }

  // Starts from the whole files and damages them in one to three places.
  void make() {
    now_ = rich_.one.files;
    only_segments_ = true;
    what_.clear();
    const auto damages = 1 + random_() % 3;
    for (std::uint64_t i = 0; i < damages; ++i)
      damage_one_place();
  }
  // Writes the damaged files into the store's directory.
  void write() const {
    rich_.one.restore();
    for (const auto& [path, bytes] : now_)
      if (bytes != rich_.one.files.at(path)) write_text(path, bytes);
  }
  bool flip_coin() { return random_() % 2; }
  const std::map<fs::path, std::string>& files() const { return now_; }
  bool only_segments() const { return only_segments_; }
  const std::string& what() const { return what_; } // describes the damage
  std::uint64_t flips() const { return flips_; }
  std::uint64_t swaps() const { return swaps_; }

private:
  void damage_one_place() {
    const auto& path = paths_[random_() % paths_.size()];
    auto& bytes = now_[path];
    only_segments_ = only_segments_ && path.extension() == ".seg";
    const std::size_t unit = random_() % 2 ? 512 : 4096;
    if (random_() % 2 || bytes.size() < unit)
      flip(path, bytes);
    else
      swap(path, bytes, unit);
  }
  void flip(const fs::path& path, std::string& bytes) {
    const auto at = random_() % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random_() % 8));
    what_ += "flip " + path.string() + ":" + std::to_string(at) + "; ";
    ++flips_;
  }
  void swap(const fs::path& path, std::string& bytes, std::size_t unit) {
    auto& second_path = paths_[random_() % paths_.size()];
    auto& second = random_() % 3 == 0 ? foreign_[random_() % foreign_.size()] : now_[second_path];
    only_segments_ = only_segments_ && second_path.extension() == ".seg";
    // The whole description of another store would turn this one into that store.
    const bool is_foreign = &second != &now_[second_path];
    if (second.size() < unit || (is_foreign && unit == 4096 && path.filename() == "store")) return;
    const auto here = random_() % (bytes.size() / unit) * unit;
    const auto there = random_() % (second.size() / unit) * unit;
    const auto page = bytes.substr(here, unit);
    bytes.replace(here, unit, second.substr(there, unit));
    if (random_() % 2) second.replace(there, unit, page);
    what_ += "page " + path.string() + ":" + std::to_string(here) + " from " +
             (is_foreign ? "another store" : second_path.string()) + ":" + std::to_string(there) +
             " of " + std::to_string(unit) + "; ";
    ++swaps_;
  }

  const rich_sample& rich_;
  std::mt19937_64 random_;
  std::vector<fs::path> paths_;
  std::vector<std::string> foreign_; // files of another store
  std::map<fs::path, std::string> now_;
  bool only_segments_ = true;
  std::string what_;
  std::uint64_t flips_ = 0;
  std::uint64_t swaps_ = 0;
};

// Each entry is right, or was damaged, is reported once, and can be inserted again.
void check_entries(storage::store& store, const rich_sample& rich,
                   const std::vector<std::string>& harmed) {
  for (const auto& [key, where] : rich.extents) {
    const auto text = text_of(store, key);
    const bool is_harmed = std::find(harmed.begin(), harmed.end(), key) != harmed.end();
    CAPTURE(key);
    REQUIRE((text == rich.value(key) || (is_harmed && (text == "<miss>" || text == "<corrupt>"))));
    if (text == rich.value(key)) continue;
    REQUIRE(text_of(store, key) == "<miss>");
    REQUIRE(insert(store, key, rich.value(key)) == write_status::inserted);
    REQUIRE(text_of(store, key) == rich.value(key));
  }
}

} // namespace

TEST_CASE("flipped bits and swapped pages are found and lose only the entries they are in") {
  const rich_sample rich;
  const rich_sample other; // another store
  const auto rounds = number_from("HEARTH_DAMAGE_ROUNDS", 300);
  random_damage damage(rich, other, number_from("HEARTH_DAMAGE_SEED", 12));
  std::uint64_t found = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    damage.make();
    CAPTURE(damage.what());
    damage.write();
    const auto harmed = rich.harmed(damage.files());
    auto store = open_store(rich.one.options);
    REQUIRE(store);
    const auto report = store->verify(false);
    REQUIRE(report);
    if (damage.only_segments() && !harmed.empty()) {
      REQUIRE_FALSE(report->intact());
      ++found;
    }
    if (damage.flip_coin()) REQUIRE(store->verify(true));
    check_entries(*store, rich, harmed);
    REQUIRE(store->verify(true));
    REQUIRE(store->verify(false)->intact());
  }
  MESSAGE("rounds: " << rounds << ", flips: " << damage.flips() << ", swaps: " << damage.swaps()
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

} // namespace damage_rounds_test
