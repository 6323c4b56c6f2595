// Attachments on disk: collected from a folder, and put back complete.
#include "runtime/caches/attachments/attachments.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace attachments_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct folders {
  // The files that a compile of a kernel left.
  attachment kernel() const {
    write_text(here / "triton/k1/k.cubin", "machine code");
    write_text(here / "triton/k1/ir/k.json",
               "{\"path\": \"" + (here / "triton/k1").string() + "/k.cubin\"}");
    return *collect_folder(here, "triton/k1");
  }
  std::size_t entries_in(const fs::path& folder) const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
  }

  temporary_directory directory;
  fs::path here = directory / "here";
  fs::path there = directory / "there";
};

} // namespace

TEST_CASE_FIXTURE(folders, "a folder is collected and put back elsewhere") {
  const auto files = kernel();
  REQUIRE(files.files.size() == 2);
  const auto outcome = put_back(files, there);
  REQUIRE(outcome);
  CHECK(*outcome == put_back_outcome::put);
  CHECK(file_text(there / "triton/k1/k.cubin") == "machine code");
  CHECK(file_text(there / "triton/k1/ir/k.json") ==
        "{\"path\": \"" + (there / "triton/k1").string() + "/k.cubin\"}");
  CHECK(entries_in(there / "triton") == 1); // no temporary is left
}

TEST_CASE_FIXTURE(folders, "an identical attachment on disk is left alone") {
  const auto files = kernel();
  REQUIRE(put_back(files, there));
  const auto time = fs::last_write_time(there / "triton/k1");
  const auto status = fs::status(there / "triton/k1/k.cubin");
  CHECK(*put_back(files, there) == put_back_outcome::identical);
  CHECK(*put_back(files, here) == put_back_outcome::identical);
  CHECK(fs::last_write_time(there / "triton/k1") == time);
  CHECK(fs::status(there / "triton/k1/k.cubin").permissions() == status.permissions());
}

TEST_CASE_FIXTURE(folders, "a different attachment on disk is replaced whole") {
  const auto files = kernel();
  REQUIRE(put_back(files, there));
  SUBCASE("another byte") { write_text(there / "triton/k1/k.cubin", "machine Code"); }
  SUBCASE("a file too many") { write_text(there / "triton/k1/more", "x"); }
  SUBCASE("a file too few") { fs::remove(there / "triton/k1/k.cubin"); }
  SUBCASE("other rights") {
    fs::permissions(there / "triton/k1/k.cubin", fs::perms::owner_exec, fs::perm_options::add);
  }
  SUBCASE("a file in its place") {
    fs::remove_all(there / "triton/k1");
    write_text(there / "triton/k1", "no folder");
  }
  SUBCASE("a link in its place") {
    fs::remove_all(there / "triton/k1");
    fs::create_directory_symlink(here / "triton/k1", there / "triton/k1");
  }
  CHECK(*put_back(files, there) == put_back_outcome::replaced);
  CHECK(*put_back(files, there) == put_back_outcome::identical);
  CHECK(entries_in(there / "triton") == 1);
  CHECK(file_text(here / "triton/k1/k.cubin") == "machine code");
}

TEST_CASE_FIXTURE(folders, "programs stay programs and binaries are not searched for paths") {
  const auto path = (here / "f").string();
  write_text(here / "f/tool", "uses " + path);
  fs::permissions(here / "f/tool", fs::perms::owner_exec, fs::perm_options::add);
  REQUIRE(put_back(*collect_folder(here, "f"), there));
  CHECK(file_text(there / "f/tool") == "uses " + path);
  CHECK((fs::status(there / "f/tool").permissions() & fs::perms::owner_exec) != fs::perms::none);
}

TEST_CASE_FIXTURE(folders, "a folder that cannot be attached is an error that names it") {
  write_text(here / "f/file", "x");
  fs::create_symlink("/etc/passwd", here / "f/link");
  CHECK(collect_folder(here, "f").error().text().find("f/link is no regular file") !=
        std::string::npos);
  CHECK(collect_folder(here, "none").error().code() == errc::not_found);
  CHECK(collect_folder(here, "../here").error().code() == errc::invalid_argument);
  CHECK(put_back({"../escape", {}}, there).error().code() == errc::invalid_argument);
}

TEST_CASE_FIXTURE(folders, "a failure leaves the earlier files and nothing else") {
  auto files = kernel();
  REQUIRE(put_back(files, there));
  files.files.push_back({"k.cubin/inside", "a file below a file", false, {}});
  CHECK_FALSE(put_back(files, there));
  CHECK(file_text(there / "triton/k1/k.cubin") == "machine code");
  CHECK(entries_in(there / "triton") == 1);
}

TEST_CASE_FIXTURE(folders,
                  "threads and processes that put the same back at once all end with whole files") {
  const auto one = kernel();
  auto other = one;
  other.files[0].bytes += " of another version";
  const auto work = [&](int number) {
    for (int i = 0; i < 20; ++i)
      if (!put_back((i + number) % 2 == 0 ? one : other, there)) return 1;
    return 0;
  };
  child_process child([&] { return work(1); });
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 2; ++number)
      threads.emplace_back([&, number] { failed += work(number); });
  }
  CHECK(child.wait() == 0);
  CHECK(failed == 0);
  CHECK(entries_in(there / "triton") == 1);
  const auto left = collect_folder(there, "triton/k1");
  REQUIRE(left);
  CHECK(((*left == one) || (*left == other)));
}

} // namespace attachments_test
