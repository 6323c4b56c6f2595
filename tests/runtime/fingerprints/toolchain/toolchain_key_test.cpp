// The key of a toolchain and of a machine.
#include "runtime/fingerprints/contents.hpp"
#include "runtime/fingerprints/machine/system_info.hpp"
#include "runtime/fingerprints/toolchain/toolchain_key.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <thread>

namespace toolchain_key_test {

using namespace hearth;
using namespace hearth::fingerprints;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct toolchain_fixture {
  void write(const std::string& name, const std::string& content) const {
    write_text(directory / name, content);
  }
  toolchain_parts parts() const {
    toolchain_parts all;
    all.version = "2.7";
    all.flags = {"-O2"};
    all.trees = {{"core", directory / "src", {".py", ".cpp"}}};
    all.files = {directory / "extra.txt"};
    return all;
  }
  digest key() const {
    const auto made = toolchain_key(parts()).get();
    REQUIRE(made);
    return *made;
  }
  toolchain_fixture() {
    write("src/a.py", "a");
    write("src/deep/b.cpp", "b");
    write("src/notes.md", "n");
    write("extra.txt", "e");
  }

  temporary_directory directory;
};

} // namespace

TEST_CASE_FIXTURE(toolchain_fixture, "every source file of a tree counts and no other file") {
  const auto before = key();
  CHECK(key() == before);
  write("src/notes.md", "other notes");
  CHECK(key() == before);
  write("src/deep/b.cpp", "changed");
  const auto changed = key();
  CHECK(changed != before);
  fs::rename(directory / "src/a.py", directory / "src/z.py");
  CHECK(key() != changed);
}

TEST_CASE_FIXTURE(toolchain_fixture, "the location of a tree does not matter but its name does") {
  const auto before = key();
  fs::rename(directory / "src", directory / "moved");
  auto other = parts();
  other.trees[0].folder = directory / "moved";
  CHECK(*toolchain_key(other).get() == before);
  other.trees[0].name = "other";
  CHECK(*toolchain_key(other).get() != before);
}

TEST_CASE_FIXTURE(toolchain_fixture, "version flags files and compilers count") {
  const auto before = key();
  auto other = parts();
  other.version = "2.8";
  CHECK(*toolchain_key(other).get() != before);
  other = parts();
  other.flags = {"-O3"};
  CHECK(*toolchain_key(other).get() != before);
  write("compiler", "one");
  ::chmod((directory / "compiler").c_str(), 0755);
  other = parts();
  other.compilers = {(directory / "compiler").string()};
  const auto with_compiler = *toolchain_key(other).get();
  CHECK(with_compiler != before);
  write("compiler", "another");
  CHECK(*toolchain_key(other).get() != with_compiler);
  write("extra.txt", "changed");
  CHECK(key() != before);
}

TEST_CASE_FIXTURE(toolchain_fixture, "the key is made once and can be set and cleared") {
  toolchain_key kept(parts());
  const auto before = *kept.get();
  write("src/a.py", "changed");
  CHECK(*kept.get() == before);
  kept.clear();
  const auto after = *kept.get();
  CHECK(after != before);
  kept.set(before);
  CHECK(*kept.get() == before);
}

TEST_CASE_FIXTURE(toolchain_fixture, "a missing or repeated part is an error that is not kept") {
  auto wrong = parts();
  wrong.files.push_back(directory / "none.txt");
  toolchain_key kept(wrong);
  CHECK(kept.get().error().code() == errc::not_found);
  write("none.txt", "now it is there");
  CHECK(kept.get());
  wrong = parts();
  wrong.trees.push_back(wrong.trees[0]);
  CHECK(toolchain_key(wrong).get().error().to_string() ==
        "invalid_argument: two parts of a toolchain are named 'core'");
  wrong = parts();
  wrong.compilers = {"no-such-compiler"};
  CHECK(toolchain_key(wrong).get().error().code() == errc::program_not_found);
  wrong = parts();
  wrong.trees[0].folder = directory / "nowhere";
  CHECK(toolchain_key(wrong).get().error().code() == errc::not_found);
}

TEST_CASE_FIXTURE(toolchain_fixture,
                  "a tree of many files is the same for any number of reading threads") {
  // One tree is read at once, on as many threads as there are cores; the other a folder at a time,
  // each with too few files for a second thread.
  constexpr int folders = 20;
  for (int i = 0; i < 200; ++i)
    for (const std::string copy : {"many", "few"})
      write(copy + "/f" + std::to_string(i % folders) + "/" + std::to_string(i), std::to_string(i));
  const auto tree = field_of_tree(directory / "many");
  REQUIRE(tree);
  CHECK(tree->files.size() == 200);
  CHECK(tree->files.at("f3/3").content == sha256("3"));
  CHECK(tree->files.at("f3/3").bytes == 1);
  std::size_t files = 0;
  for (int i = 0; i < folders; ++i) {
    const auto name = "f" + std::to_string(i);
    const auto alone = field_of_tree(directory / "few" / name);
    REQUIRE(alone);
    for (const auto& [file, field] : alone->files) {
      CHECK(tree->files.at(name + "/" + file).content == field.content);
      CHECK(tree->files.at(name + "/" + file).bytes == field.bytes);
      ++files;
    }
  }
  CHECK(files == 200);
}

TEST_CASE("a machine is known by platform processor system compilers and driver") {
  const temporary_directory root;
  const auto write = [&](const std::string& name, const std::string& content) {
    write_text(root / name, content);
  };
  write("proc/cpuinfo", "processor : 0\nvendor_id : A\nmodel name : B\nflags : avx2 sse\n\n"
                        "processor : 1\nvendor_id : A\nmodel name : B\nflags : sse avx2 fma\n");
  write("etc/os-release", "NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n");
  const auto without = system_details(root.path());
  const auto& fields = *without.as<key_field::map>();
  CHECK(fields.at("os") == key_field("debian 12"));
  CHECK(fields.at("isa") == key_field::set_of({"sse", "avx2"}));
  CHECK(fields.at("platform") == key_field("Linux"));
  CHECK(fields.at("compilers").as<key_field::map>()->contains("g++"));
  CHECK_FALSE(fields.contains("gpus"));
  write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 550.54\nGCC version: 12\n");
  write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t NVIDIA H100\nIRQ: 7\n");
  const auto with = system_details(root.path());
  CHECK(with.as<key_field::map>()->at("gpus") == key_field(key_field::list{"NVIDIA H100"}));
  CHECK(with.as<key_field::map>()->at("gpu_driver") ==
        key_field("nvidia NVIDIA UNIX x86_64 550.54"));
  CHECK(with != without);
  CHECK(system_details(root.path()) == with);
}

TEST_CASE("this machine is examined once and its digest is stable") {
  CHECK(&system_info() == &system_info());
  CHECK(system_key() == sha256(encode(system_details())));
}

} // namespace toolchain_key_test
