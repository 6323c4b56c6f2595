// `hearth run --remote` on several hosts: inputs that one host discovers serve the others.
#include "tests/support/hearth_program.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/running_server.hpp"
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
  std::size_t compile(const std::string& host, const std::string& url) const {
    const auto result = program_run({"run",      "--store", (directory / host).string(),
                                     "--remote", url,       "--remote-deadline",
                                     "10s",      "--in",    "a.cpp",
                                     "--in",     "cc",      "--out",
                                     "a.o",      "--",      "./cc",
                                     "-MD",      "-c",      "a.cpp",
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
  CHECK(compile("a", redis.url()) == 1);
  const auto first = object();
  CHECK(compile("b", redis.url()) == 1); // b knows one set of inputs now
  set_header(2);
  CHECK(compile("a", redis.url()) == 2);
  const auto second = object();
  CHECK(first != second);
  fs::remove(folder / "a.o");
  CHECK(compile("b", redis.url()) == 2); // found, though b held the older set
  CHECK(object() == second);
  CHECK(compile("c", redis.url()) == 2);
  CHECK(object() == second);
  // Two hosts that know the same inputs each add others: a third has both.
  set_header(3);
  CHECK(compile("a", redis.url()) == 3);
  set_header(4);
  CHECK(compile("b", redis.url()) == 4);
  set_header(3);
  CHECK(compile("c", redis.url()) == 4);
  set_header(4);
  CHECK(compile("c", redis.url()) == 4);
  CHECK(compile("a", redis.url()) == 4);
  set_header(1);
  CHECK(compile("c", redis.url()) == 4);
  CHECK(object() == first);
}

TEST_CASE_FIXTURE(build, "a hearth serve has what hosts discovered and compiled, over its kill") {
  const auto socket = (directory / "redis.sock").string();
  running_server server({"--listen", "resp=unix:" + socket});
  const auto url = "hearth+unix://" + socket;
  set_header(1);
  CHECK(compile("a", url) == 1);
  const auto first = object();
  CHECK(compile("b", url) == 1);
  set_header(2);
  CHECK(compile("b", url) == 2);
  const auto second = object();
  server.kill();
  server.start();
  // Each has added inputs to one set: a third host finds both.
  CHECK(compile("c", url) == 2);
  CHECK(object() == second);
  set_header(1);
  CHECK(compile("c", url) == 2);
  CHECK(object() == first);
  set_header(3);
  CHECK(compile("c", url) == 3);
  CHECK(compile("a", url) == 3);
}

} // namespace fleet_run_test
