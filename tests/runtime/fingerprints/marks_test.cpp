// Marks of paths: which changes they show, and what is no mark.
#include "runtime/fingerprints/watched/marks.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>

namespace marks_test {

using namespace hearth;
using namespace hearth::fingerprints;
using kind = file_question::kind;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t much_later = std::int64_t{1} << 62; // as if all files were old

struct marked_folder {
  marked_folder() {
    test::write_text(directory / "file", "text");
    fs::create_directory(directory / "folder");
    fs::create_symlink("file", directory / "link");
  }

  std::string at(const std::string& name) const { return (directory / name).string(); }
  packed_marks all() const {
    packed_marks marks;
    for (const auto* name : {"file", "link", "none", "folder/none"})
      CHECK(marks.add_now(at(name), much_later));
    marks.add(kind::content, at("folder"), folder_mark());
    for (const auto* name : {"file", "link", "none"})
      marks.add(kind::link, at(name), link_mark(link_now(at(name))));
    return marks;
  }

  test::temporary_directory directory;
};

} // namespace

TEST_CASE_FIXTURE(marked_folder, "marks show each change of what they are of") {
  const auto same_again = [&] {
    struct stat found {};
    REQUIRE(::stat(at("file").c_str(), &found) == 0);
    test::write_text(directory / "file", "Text");
    const timespec times[2] = {found.st_atim, found.st_mtim};
    ::utimensat(AT_FDCWD, at("file").c_str(), times, 0);
  };
  const std::pair<const char*, std::function<void()>> changes[] = {
      {"other bytes, of the same size and time", same_again},
      {"another file in its place",
       [&] {
         test::write_text(directory / "new", "text");
         fs::rename(directory / "new", directory / "file");
       }},
      {"gone", [&] { fs::remove(directory / "file"); }},
      {"rights", [&] { fs::permissions(directory / "file", fs::perms::owner_read); }},
      {"what was not there", [&] { test::write_text(directory / "none", ""); }},
      {"what was not there, as a link", [&] { fs::create_symlink("x", directory / "none"); }},
      {"in a folder", [&] { test::write_text(directory / "folder" / "none", ""); }},
      {"a link turned",
       [&] {
         fs::remove(directory / "link");
         fs::create_symlink("./file", directory / "link");
       }},
      {"a file in a link's place",
       [&] {
         fs::remove(directory / "link");
         fs::create_hard_link(directory / "file", directory / "link");
       }},
      {"a file in a folder's place",
       [&] {
         fs::remove(directory / "folder");
         test::write_text(directory / "folder", "");
       }},
  };
  for (const auto& [name, change] : changes) {
    CAPTURE(name);
    fs::remove_all(directory.path());
    fs::create_directories(directory / "folder");
    test::write_text(directory / "file", "text");
    fs::create_symlink("file", directory / "link");
    const auto marks = all().bytes();
    CHECK(marks_hold(marks));
    change();
    CHECK_FALSE(marks_hold(marks));
  }
}

TEST_CASE_FIXTURE(marked_folder, "a folder's mark holds whatever is in it") {
  const auto marks = all().bytes();
  test::write_text(directory / "folder" / "other", "");
  CHECK(marks_hold(marks));
  // But the stamp of the folder says more, and counts where both are known.
  packed_marks both;
  both.add(kind::content, at("folder"), folder_mark());
  REQUIRE(both.add_now(at("folder"), much_later));
  both.add(kind::content, at("folder"), folder_mark());
  CHECK(marks_hold(both.bytes()));
  test::write_text(directory / "folder" / "another", "");
  CHECK_FALSE(marks_hold(both.bytes()));
}

TEST_CASE_FIXTURE(marked_folder, "a file that has just changed has no mark") {
  packed_marks marks;
  CHECK_FALSE(marks.add_now(at("file"), file_clock_ns()));
  CHECK(marks.add_now(at("none"), file_clock_ns()));
  CHECK(marks.add_now(at("file"), much_later));
}

TEST_CASE_FIXTURE(marked_folder, "other bytes hold never") {
  CHECK_FALSE(marks_hold(""));
  const auto marks = all().bytes();
  // Cut between two marks, fewer are left; cut within one, it is none.
  int holding = 0;
  for (std::size_t size = 0; size < marks.size(); ++size)
    holding += marks_hold(marks.substr(0, size));
  CHECK(holding == 7);
  packed_marks two;
  REQUIRE(two.add_now(at("file"), much_later));
  two.add(kind::link, at("link"), link_mark(link_now(at("link"))));
  const auto good = two.bytes();
  REQUIRE(marks_hold(good));
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK_FALSE(marks_hold(bad));
  }
  CHECK_FALSE(marks_hold("x" + marks));
}

} // namespace marks_test
