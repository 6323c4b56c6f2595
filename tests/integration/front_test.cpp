// The program `hearth` answers what the store knows by itself, and becomes the program with the
// runtime for all else. A copy of it that stands alone shows which it was: it can only answer.
#include "tests/support/action_bench.hpp"

#include <cstdlib>
#include <sys/wait.h>

namespace front_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct front : action_bench {
  front() {
    fs::copy_file(HEARTH_FRONT, alone);
    // What tests are run with must not count.
    for (const auto* name : {"HEARTH_REMOTE", "HEARTH_CONFIG"})
      ::unsetenv(name);
  }

  program_result call(const fs::path& program, const std::string& arguments) const {
    const auto out = logs / "front.out";
    const auto err = logs / "front.err";
    const auto line = "cd '" + folder.string() + "' && exec '" + program.string() + "' " +
                      arguments + " > '" + out.string() + "' 2> '" + err.string() + "' < /dev/null";
    const int ended = std::system(line.c_str());
    return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended), file_text(out),
            file_text(err)};
  }
  program_result whole(const std::string& arguments) const { return call(HEARTH_FRONT, arguments); }
  // Whether the front answered: alone it gives what the whole gives.
  bool answers(const std::string& arguments) const {
    const auto given = call(alone, arguments);
    if (given.err.find("hearth-runtime") != std::string::npos) return false;
    const auto right = whole(arguments);
    CHECK(given.status == right.status);
    CHECK(given.out == right.out);
    CHECK(given.err == right.err);
    return true;
  }
  std::string in_store(const std::string& command) const {
    return "--store '" + store + "' " + command;
  }

  fs::path alone = directory / "hearth";
};

} // namespace

TEST_CASE_FIXTURE(front, "front: entries that are stored") {
  write("v", "one value\n");
  REQUIRE(whole(in_store("insert k v")).status == 0);
  REQUIRE(whole(in_store("insert --cache other k v")).status == 0);
  CHECK(answers("--version"));
  CHECK(answers(in_store("get k")));
  CHECK(whole(in_store("get k")).out == "one value\n");
  CHECK(answers("get --store '" + store + "' k"));
  CHECK(answers(in_store("get --cache other k")));
  for (const auto* more :
       {"get none", "get --json k", "get k -o o", "get k k", "get", "list", "get --cache 'a/b' k",
        "--cache other get k", "--verbose get k", "--watch no get k"}) {
    CAPTURE(more);
    CHECK_FALSE(answers(in_store(more)));
  }
  CHECK(whole(in_store("get none")).status == 1);
}

TEST_CASE_FIXTURE(front, "front: what has a remote tier or a configuration is for the runtime") {
  write("v", "one value\n");
  REQUIRE(whole(in_store("insert k v")).status == 0);
  for (const auto* name : {"HEARTH_REMOTE", "HEARTH_CONFIG", "HEARTH_WATCH"}) {
    CAPTURE(name);
    REQUIRE(::setenv(name, "x", 1) == 0);
    CHECK_FALSE(answers(in_store("get k")));
    ::unsetenv(name);
    CHECK(answers(in_store("get k")));
  }
  CHECK_FALSE(answers("--remote redis://127.0.0.1:1 " + in_store("get k")));
}

TEST_CASE_FIXTURE(front, "front: results of commands that are stored") {
  write("a", "text\n");
  const auto copies = in_store("run --in a --out b -- cp a b");
  CHECK_FALSE(answers(copies));
  REQUIRE(whole(copies).status == 0);
  fs::remove(folder / "b");
  CHECK(answers(copies));
  CHECK(text("b") == "text\n");
  write("a", "other\n");
  CHECK_FALSE(answers(copies));

  const auto fails = in_store("run --keep-failures -- sh -c 'echo out; echo err >&2; exit 7'");
  REQUIRE(whole(fails).status == 7);
  CHECK(answers(fails));
  CHECK(call(alone, fails).out == "out\n");
  CHECK(call(alone, fails).err == "err\n");
  // Limits are no part of the key, but have to be right.
  CHECK(answers(in_store("run --timeout 9s --keep-failures -- sh -c "
                         "'echo out; echo err >&2; exit 7'")));
  CHECK_FALSE(answers(in_store("run --timeout x --keep-failures -- sh -c "
                               "'echo out; echo err >&2; exit 7'")));
  CHECK_FALSE(answers(in_store("run --no-cache -- true")));
  CHECK_FALSE(answers(in_store("run --")));
}

TEST_CASE_FIXTURE(front, "front: what a compile read decides, here too") {
  write("a.c", "#include \"x.h\"\nint f() { return X; }\n");
  write("x.h", "#define X 1\n");
  const auto compiles = in_store("run --out a.o -- gcc -c a.c -o a.o");
  REQUIRE(whole(compiles).status == 0);
  const auto first = text("a.o");
  fs::remove(folder / "a.o");
  REQUIRE(answers(compiles));
  CHECK(text("a.o") == first);
  write("x.h", "#define X 2\n");
  CHECK_FALSE(answers(compiles));
  REQUIRE(whole(compiles).status == 0);
  CHECK(text("a.o") != first);
  write("x.h", "#define X 1\n");
  CHECK(answers(compiles));
  CHECK(text("a.o") == first);
}

TEST_CASE_FIXTURE(front, "front: without the other program it says what is missing") {
  check_error(call(alone, in_store("list")), 3, "hearth-runtime");
  check_error(call(alone, in_store("run -- true")), 125, "hearth-runtime");
  // A store that is damaged, or none, is no reason to fail here.
  CHECK_FALSE(answers("--store /nowhere get k"));
  write("not_a_store", "");
  CHECK_FALSE(answers("--store not_a_store get k"));
  // Only `run` has the status of `run`.
  check_error(call(alone, in_store("list --cache run")), 3, "hearth-runtime");
}

TEST_CASE_FIXTURE(front, "front: a damaged entry is told of once") {
  write("v", std::string(4000, 'v'));
  REQUIRE(whole(in_store("insert k v")).status == 0);
  for (const auto& one : fs::recursive_directory_iterator(store)) {
    if (one.path().extension() != ".seg") continue;
    auto bytes = file_text(one.path());
    const auto at = bytes.find("vvvv");
    if (at == std::string::npos) continue;
    bytes[at + 2000] = 'w';
    write_text(one.path(), bytes);
  }
  // The other program drops it.
  CHECK(call(alone, in_store("get k")).err.find("hearth-runtime") != std::string::npos);
  check_error(whole(in_store("get k")), 3, "checksum");
  CHECK(whole(in_store("get k")).status == 1);
}

TEST_CASE_FIXTURE(front, "front: a pipe that does not wait for its reader gets a value once") {
  write("v", std::string(200'000, 'v'));
  REQUIRE(whole(in_store("insert k v")).status == 0);
  int ends[2];
  REQUIRE(::pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(HEARTH_FRONT, "hearth", "get", "--store", store.c_str(), "k", nullptr);
    ::_exit(99);
  }
  ::close(ends[1]);
  std::size_t got = 0;
  // The pipe is full before the first byte is read.
  for (char buffer[4096];;) {
    pollfd readable{ends[0], POLLIN, 0};
    REQUIRE(::poll(&readable, 1, patience_ms) == 1);
    const auto bytes = ::read(ends[0], buffer, sizeof buffer);
    if (bytes <= 0) break;
    got += static_cast<std::size_t>(bytes);
  }
  ::close(ends[0]);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(got == 200'000);
}

TEST_CASE_FIXTURE(front, "front: what cannot be printed ends with an error") {
  const auto fails = in_store("run --keep-failures -- sh -c 'echo out; exit 7'");
  REQUIRE(whole(fails).status == 7);
  const auto full = std::system(("cd '" + folder.string() + "' && exec '" + alone.string() + "' " +
                                 fails + " > /dev/full 2> '" + (logs / "full").string() + "'")
                                    .c_str());
  CHECK(WEXITSTATUS(full) == 125);
  CHECK(lines_of(file_text(logs / "full")).size() == 1);
}

} // namespace front_test
