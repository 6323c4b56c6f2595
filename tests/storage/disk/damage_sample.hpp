// A small store and its original files, for tests that damage them.
#pragma once

#include "tests/storage/disk/store_fixture.hpp"
#include "tests/support/files.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hearth::test {

inline std::string value_of(int i) { return noise(40 + static_cast<std::size_t>(i) * 9, 8); }
inline constexpr int entries = 12;

// A small closed store and its original files.
struct sample {
  temporary_directory directory;
  storage::store_options options = small_store(directory.path());
  std::map<std::filesystem::path, std::string> files;

  sample() {
    options.segment_bytes = 64u << 10;
    {
      auto store = open_store(options);
      for (int i = 0; i < entries; ++i)
        insert(*store, numbered(i), value_of(i), "\x80");
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
      if (entry.is_regular_file()) files[entry.path()] = file_text(entry.path());
  }
  void restore() const {
    std::vector<std::filesystem::path> extra;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path()))
      if (entry.is_regular_file() && !files.contains(entry.path())) extra.push_back(entry.path());
    for (const auto& path : extra)
      std::filesystem::remove(path);
    for (const auto& [path, bytes] : files)
      write_text(path, bytes);
  }
  std::filesystem::path path(const char* name) const { return directory / "v1/shards/00" / name; }

  // Opens the store and reads every entry: each is right or missing. Returns the number of right
  // ones.
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
      REQUIRE(insert(*store, numbered(i), value_of(i)) == storage::write_status::inserted);
      REQUIRE(text_of(*store, numbered(i)) == value_of(i));
    }
    return right;
  }
};

} // namespace hearth::test
