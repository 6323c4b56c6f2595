// Shared objects as processes load them: real compilers, the real dynamic loader.
#include "runtime/caches/modules/module_cache.hpp"

#include "runtime/caches/code/code_cache.hpp"
#include "runtime/caches/modules/module_files.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

namespace module_cache_test {

using namespace hearth;
using namespace hearth::test;
namespace {

namespace fs = std::filesystem;

// An object that counts its loads in a variable of the host, and returns its number.
std::string source_of(int number) {
  return "#include <cstdlib>\n#include <string>\n"
         "static int note(const char* what) {\n"
         "  const char* was = std::getenv(what);\n"
         "  ::setenv(what, std::to_string((was ? std::atoi(was) : 0) + 1).c_str(), 1);\n"
         "  return 0;\n}\n"
         "struct life { life() { note(\"HEARTH_TEST_LOADS\"); }\n"
         "              ~life() { note(\"HEARTH_TEST_UNLOADS\"); } };\n"
         "static life here;\n"
         "extern \"C\" int number(int more) { return " +
         std::to_string(number) +
         " + more; }\n"
         "extern \"C\" { extern const int constant = " +
         std::to_string(number) + "; }\n";
}

int count_of(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : 0;
}

struct modules_fixture : on_disk {
  modules_fixture()
      : rt(settings()) {
    ::unsetenv("HEARTH_TEST_LOADS");
    ::unsetenv("HEARTH_TEST_UNLOADS");
    code_options options;
    options.flags = {"-O0"};
    code.emplace(*code_cache::open(rt, options));
  }
  artifact object(int number) {
    auto made = code->compile(source_of(number));
    REQUIRE_MESSAGE(made, made.error().text());
    return *made;
  }
  int call(const loaded_module& of) {
    const auto number = of.symbol<int(int)>("number");
    REQUIRE_MESSAGE(number, number.error().text());
    return (*number)(1);
  }
  std::vector<fs::path> files() {
    std::vector<fs::path> all;
    std::error_code none;
    for (const auto& one : fs::directory_iterator(module_folder(directory / "store"), none))
      all.push_back(one.path());
    return all;
  }

  runtime rt;
  std::optional<code_cache> code;
};

} // namespace

TEST_CASE_FIXTURE(modules_fixture, "symbols are functions and variables of the type asked for") {
  const module_cache modules(rt);
  const auto loaded = modules.load(object(41));
  REQUIRE_MESSAGE(loaded, loaded.error().text());
  CHECK(call(*loaded) == 42);
  CHECK(**loaded->symbol<const int>("constant") == 41);
  const auto missing = loaded->symbol<void()>("no_such_name");
  CHECK(missing.error().code() == errc::not_found);
  CHECK(missing.error().text().find("no_such_name") != std::string::npos);
}

TEST_CASE_FIXTURE(modules_fixture, "eight threads that load one object get one handle") {
  const module_cache modules(rt);
  const auto same = object(1);
  std::vector<std::optional<loaded_module>> got(8);
  std::vector<std::thread> threads;
  for (auto& one : got)
    threads.emplace_back([&] {
      if (auto loaded = modules.load(same)) one = *loaded;
    });
  for (auto& thread : threads)
    thread.join();
  for (const auto& one : got) {
    REQUIRE(one);
    CHECK(*one == *got.front());
  }
  CHECK(count_of("HEARTH_TEST_LOADS") == 1);
}

TEST_CASE_FIXTURE(modules_fixture, "an object is unloaded when its last handle is dropped") {
  const module_cache one(rt);
  const module_cache other; // from memory: still the same object
  {
    const auto first = *one.load(object(2));
    const auto second = *other.load(object(2));
    CHECK(first == second);
    one.clear();
    CHECK(one.size() == 0);
    CHECK(call(first) == 3);
  }
  CHECK(count_of("HEARTH_TEST_UNLOADS") == 0);
  other.clear();
  CHECK(count_of("HEARTH_TEST_LOADS") == 1);
  CHECK(count_of("HEARTH_TEST_UNLOADS") == 1);
  CHECK(call(*one.load(object(2))) == 3);
  CHECK(count_of("HEARTH_TEST_LOADS") == 2);
}

TEST_CASE_FIXTURE(modules_fixture, "a module's file that was removed is written again") {
  const module_cache modules(rt);
  const auto same = object(3);
  CHECK(call(*modules.load(same)) == 4);
  REQUIRE(files().size() == 1);
  fs::remove(files().front());
  modules.clear();
  CHECK(call(*modules.load(same)) == 4);
  CHECK(files().size() == 1);
}

TEST_CASE_FIXTURE(modules_fixture, "a module's file that was damaged is replaced, never loaded") {
  const module_cache modules(rt);
  const auto same = object(4);
  CHECK(call(*modules.load(same)) == 5);
  modules.clear();
  const auto other = object(8);
  REQUIRE(other.payload().size() == same.payload().size());
  write_text(files().front(), std::string(other.payload()));
  CHECK(call(*modules.load(same)) == 5);
}

TEST_CASE_FIXTURE(modules_fixture, "clearing and pruning a store does not affect loaded modules") {
  const module_cache modules(rt);
  const auto loaded = *modules.load(object(5));
  REQUIRE(
      run_hearth({"clear", "--store", (directory / "store").string()}, directory.path()).status ==
      0);
  CHECK(files().empty());
  CHECK(call(loaded) == 6);
  const auto next = *modules.load(object(9));
  REQUIRE(files().size() == 1);
  CHECK(prune_modules(module_folder(directory / "store"), 0) > 0);
  CHECK(files().empty());
  CHECK(call(next) == 10);
  CHECK(call(loaded) == 6);
}

TEST_CASE_FIXTURE(modules_fixture, "the folder of modules and its files are private to the user") {
  const module_cache modules(rt);
  REQUIRE(modules.load(object(6)));
  struct stat about {};
  REQUIRE(::stat(module_folder(directory / "store").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  REQUIRE(::stat(files().front().c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
}

TEST_CASE_FIXTURE(modules_fixture,
                  "a folder that others may read is not used: it loads from memory") {
  const auto folder = module_folder(directory / "store");
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms(0755));
  const module_cache modules(rt);
  CHECK(call(*modules.load(object(7))) == 8);
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(modules_fixture, "different objects from memory are told apart") {
  const module_cache modules;
  for (int number = 10; number < 14; ++number) {
    CHECK(call(*modules.load(object(number))) == number + 1);
    modules.clear();
  }
}

TEST_CASE_FIXTURE(modules_fixture,
                  "the folder is bounded: the module unused for the longest time goes first") {
  const auto folder = module_folder(directory / "store");
  const auto first = object(20);
  const auto second = object(21);
  const auto old = write_module_file(folder, sha256(first.payload()), first);
  REQUIRE(old);
  fs::last_write_time(*old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto fresh = write_module_file(folder, sha256(second.payload()), second);
  REQUIRE(fresh);
  CHECK(prune_modules(folder, second.payload().size()) == first.payload().size());
  CHECK_FALSE(fs::exists(*old));
  CHECK(fs::exists(*fresh));
}

TEST_CASE("a file that is no shared object is an error with the loader's message") {
  const module_cache modules;
  const auto loaded = modules.load(artifact::make("no object"));
  CHECK(loaded.error().code() == errc::unsupported);
}

} // namespace module_cache_test
