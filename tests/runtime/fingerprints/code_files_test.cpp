// Names of code by its hash, and files that are replaced atomically.
#include "runtime/fingerprints/code_files.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace code_files_test {

using namespace hearth;
using namespace hearth::fingerprints;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

std::size_t files_below(const fs::path& folder) {
  std::size_t count = 0;
  for (const auto& one : fs::recursive_directory_iterator(folder))
    count += one.is_regular_file();
  return count;
}

} // namespace

// The digests without `extra` are Inductor's, computed with Python's hashlib and base64.
TEST_CASE("code is named as Inductor names it") {
  CHECK(code_hash("") == "c4oymiquy7qobjgx36tejs35zeqt24qpemsnzgtfeswmrw6csxbk");
  CHECK(code_hash("def f(): pass") == "chryoa2axm7p5g4vv7wjhswrcybyjg7numzy4vriubo54l75fkkz");
}

TEST_CASE("code and extra are never ambiguous") {
  std::set<std::string> names;
  for (const auto& [code, extra] : std::vector<std::pair<std::string, std::string>>{
           {"a||b", ""}, {"a", "b"}, {"a||", "b"}, {"a", "||b"}, {"", "a||b"}, {"ab", ""}})
    CHECK(names.insert(code_hash(code, extra)).second);
  CHECK(code_hash("a", "b").size() == 53);
}

TEST_CASE("binaries are named by their bytes and an unknown type is an error") {
  const std::string binary("\x7f\0elf", 5);
  CHECK(content_hash(binary, "cubin") == code_hash(binary));
  CHECK(content_hash(binary, "hsaco", "extra") == code_hash(binary));
  CHECK(content_hash("x", "ptx", "extra") == code_hash("x", "extra"));
  const auto unknown = content_hash("x", "elf");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().to_string() == "invalid_argument: 'elf' is no type of code; amdgcn, code, "
                                       "cubin, hsaco, ptx and spv are");
}

TEST_CASE("a path is made of the key and never leads elsewhere") {
  CHECK(*code_path("/c", "cabcd", "py") == "/c/ab/cabcd.py");
  CHECK(*code_path("/c", "cabcd", "py", "triton") == "/c/triton/cabcd.py");
  CHECK(*code_path("/c", "cabcd", "py", "/elsewhere") == "/elsewhere/cabcd.py");
  CHECK_FALSE(code_path("/c", "c", "py"));
  CHECK_FALSE(code_path("/c", "../../etc", "py"));
  CHECK_FALSE(code_path("/c", "cabc", "py/../x"));
}

TEST_CASE("content is hashed without the blanks around it and written as it is") {
  const temporary_directory directory;
  const auto first = write_code(directory.path(), "  x = 1\n", "py");
  REQUIRE(first);
  CHECK(first->key == code_hash("x = 1"));
  CHECK_FALSE(first->was_there);
  CHECK(file_text(first->path) == "  x = 1\n");
  const auto second = write_code(directory.path(), "x = 1", "py");
  REQUIRE(second);
  CHECK(second->was_there);
  CHECK(second->path == first->path);
  CHECK(file_text(first->path) == "  x = 1\n");
  const auto binary = write_code(directory.path(), " \0 ", "cubin", "cubin");
  REQUIRE(binary);
  CHECK(binary->key == code_hash(" \0 "));
}

TEST_CASE("many processes and threads write one file and no reader sees a part of it") {
  const temporary_directory directory;
  const std::string content(1 << 16, 'x');
  const auto path = directory / "deep" / "er" / "file";
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const auto child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int round = 0; round < 20; ++round)
        good = good && write_atomic(path, content) && file_text(path) == content;
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  std::atomic<int> torn{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round)
        torn += !write_atomic(path, content) || file_text(path) != content;
    });
  threads.clear();
  CHECK(torn == 0);
  CHECK(files_below(directory.path()) == 1);
}

TEST_CASE("a write that fails leaves nothing behind") {
  const temporary_directory directory;
  fs::create_directories(directory / "taken");
  CHECK_FALSE(write_atomic(directory / "taken", "x")); // a folder is in the way
  CHECK(files_below(directory.path()) == 0);
  write_text(directory / "file", "y");
  CHECK_FALSE(write_atomic(directory / "file" / "below", "x"));
  CHECK(files_below(directory.path()) == 1);
}

} // namespace code_files_test
