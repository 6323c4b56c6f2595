// Code that a real compiler compiles at run time.
#include "runtime/caches/code/code_cache.hpp"

#include "runtime/handle/runtime.hpp"
#include "tests/support/hearth_program.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

namespace code_cache_test {

using namespace hearth;
using namespace hearth::test;
namespace {

namespace fs = std::filesystem;

struct code_fixture : on_disk {
  // A compiler that logs each run with an output.
  code_options counted() const {
    write_text(directory / "cc", "#!/bin/sh\nfor word; do last=$word; done\necho \"$last\" >> '" +
                                     (directory / "runs").string() + "'\nexec g++ \"$@\"\n");
    fs::permissions(directory / "cc", fs::perms::owner_all);
    code_options options;
    options.compiler = (directory / "cc").string();
    options.flags = {"-O0"};
    return options;
  }
  std::vector<std::string> runs() const { return lines_of(file_text(directory / "runs")); }

  static int call(const code_cache& code, const std::string& source) {
    const auto loaded = code.load(source);
    REQUIRE_MESSAGE(loaded, loaded.error().text());
    return (**loaded->symbol<int()>("answer"))();
  }
};

const std::string source = "extern \"C\" int answer() { return 42; }\n";

} // namespace

TEST_CASE_FIXTURE(code_fixture, "a source is compiled once, also for later processes") {
  for (int start = 0; start < 2; ++start) {
    runtime rt(settings());
    const auto code = *code_cache::open(rt, counted());
    CHECK(call(code, source) == 42);
    CHECK(call(code, source) == 42);
    code.clear();
    CHECK(call(code, source) == 42);
  }
  CHECK(runs().size() == 1);
}

TEST_CASE_FIXTURE(code_fixture, "threads that request one source at once have it compiled once") {
  runtime rt(settings());
  const auto code = *code_cache::open(rt, counted());
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      if (const auto loaded = code.load(source)) sum += (**loaded->symbol<int()>("answer"))();
    });
  for (auto& thread : threads)
    thread.join();
  CHECK(sum == 8 * 42);
  CHECK(runs().size() == 1);
}

TEST_CASE_FIXTURE(code_fixture, "prologue and glue surround the source and are in its key") {
  runtime rt(settings());
  auto options = counted();
  options.prologue = "static int twice(int x) { return 2 * x; }\n";
  options.glue = "extern \"C\" int answer() { return inner(); }\n";
  const auto code = *code_cache::open(rt, options);
  const std::string inner = "static int inner() { return twice(21); }\n";
  CHECK(call(code, inner) == 42);
  options.prologue = "static int twice(int x) { return x + x + 1; }\n";
  CHECK(call(*code_cache::open(rt, options), inner) == 43);
  options.glue = "extern \"C\" int answer() { return inner() + 1; }\n";
  CHECK(call(*code_cache::open(rt, options), inner) == 44);
  CHECK(runs().size() == 3);
}

TEST_CASE_FIXTURE(code_fixture, "a shared header is precompiled once for all sources") {
  runtime rt(settings());
  auto options = counted();
  options.shared_header = "#pragma once\n#include <vector>\ninline int seven() { return 7; }\n";
  const auto code = *code_cache::open(rt, options);
  CHECK(call(code, "extern \"C\" int answer() { return seven(); }\n") == 7);
  CHECK(call(code, "extern \"C\" int answer() { return seven() + 1; }\n") == 8);
  const auto all = runs();
  CHECK(std::count(all.begin(), all.end(), "hearth-shared.hpp.gch") == 1);
  CHECK(all.size() == 3);
}

TEST_CASE_FIXTURE(code_fixture, "the compiler reads the precompiled header, not its text") {
  runtime rt(settings());
  auto options = counted();
  options.flags = {"-O0", "-H"};
  options.shared_header = "#pragma once\ninline int seven() { return 7; }\n";
  const auto code = *code_cache::open(rt, options);
  const auto broken = code.compile("#error stop here\n");
  CHECK(broken.error().code() == errc::compile_failed);
  CHECK_MESSAGE(broken.error().text().find("! ./hearth-shared.hpp.gch") != std::string::npos,
                broken.error().text());
}

TEST_CASE_FIXTURE(code_fixture, "a change of an undeclared header is noticed") {
  runtime rt(settings());
  auto options = counted();
  options.directory = directory.path();
  write_text(directory / "value.hpp", "#define VALUE 1\n");
  const auto code = *code_cache::open(rt, options);
  const std::string text = "#include \"value.hpp\"\nextern \"C\" int answer() { return VALUE; }\n";
  CHECK(call(code, text) == 1);
  write_text(directory / "value.hpp", "#define VALUE 2\n");
  CHECK(call(code, text) == 2);
}

TEST_CASE_FIXTURE(code_fixture, "a compiler's message names the part with the mistake") {
  runtime rt(settings());
  auto options = counted();
  options.prologue = "\n\n";
  const auto code = *code_cache::open(rt, options);
  const auto failed = code.load("int f( {\n");
  CHECK(failed.error().code() == errc::compile_failed);
  CHECK(failed.error().text().find("hearth-source.cpp:1:") != std::string::npos);
}

TEST_CASE_FIXTURE(code_fixture, "a compiler that takes too long is killed at its deadline") {
  runtime rt(settings());
  auto options = counted();
  write_text(directory / "cc", "#!/bin/sh\nexec sleep 1000\n");
  options.timeout = std::chrono::milliseconds(200);
  const auto code = *code_cache::open(rt, options);
  CHECK(code.compile(source).error().code() == errc::timeout);
}

} // namespace code_cache_test
