// `hearth run --remote` on several hosts: inputs that one host discovers serve the others.
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace fleet_run_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// One folder of sources, which every host compiles with its own store.
struct build {
  build() {
    fs::create_directory(folder);
    fs::create_directory(logs);
    write_text(folder / "a.cpp", "#include \"h.hpp\"\nint f() { return N; }\n");
    // The compiler logs each of its runs.
    write_text(folder / "cc",
               "#!/bin/sh\necho run >> '" + (logs / "runs").string() + "'\nexec g++ \"$@\"\n");
    fs::permissions(folder / "cc", fs::perms::owner_all);
  }
  void set_header(int n) const {
    write_text(folder / "h.hpp", "#define N " + std::to_string(n) + "\n");
  }
  // Compiles on this host, and returns how often the compiler has run.
  std::size_t compile(const std::string& host, const local_redis& redis) const {
    const auto result = program_run({"run",      "--store",   (directory / host).string(),
                                     "--remote", redis.url(), "--remote-deadline",
                                     "10s",      "--in",      "a.cpp",
                                     "--in",     "cc",        "--out",
                                     "a.o",      "--",        "./cc",
                                     "-MD",      "-c",        "a.cpp",
                                     "-o",       "a.o"},
                                    logs, folder)
                            .wait();
    REQUIRE_MESSAGE(result.status == 0, result.err);
    return lines_of(file_text(logs / "runs")).size();
  }
  std::string object() const { return file_text(folder / "a.o"); }

  temporary_directory directory;
  fs::path folder = directory / "work";
  fs::path logs = directory / "logs";
};

} // namespace

TEST_CASE_FIXTURE(build, "a host that knows older discovered inputs finds what another compiled") {
  const local_redis redis;
  set_header(1);
  CHECK(compile("a", redis) == 1);
  const auto first = object();
  CHECK(compile("b", redis) == 1); // b knows one set of inputs now
  set_header(2);
  CHECK(compile("a", redis) == 2);
  const auto second = object();
  CHECK(first != second);
  fs::remove(folder / "a.o");
  CHECK(compile("b", redis) == 2); // found, though b held the older set
  CHECK(object() == second);
  CHECK(compile("c", redis) == 2);
  CHECK(object() == second);
  // Two hosts that know the same inputs each add others: a third has both.
  set_header(3);
  CHECK(compile("a", redis) == 3);
  set_header(4);
  CHECK(compile("b", redis) == 4);
  set_header(3);
  CHECK(compile("c", redis) == 4);
  set_header(4);
  CHECK(compile("c", redis) == 4);
  CHECK(compile("a", redis) == 4);
  set_header(1);
  CHECK(compile("c", redis) == 4);
  CHECK(object() == first);
}

} // namespace fleet_run_test
