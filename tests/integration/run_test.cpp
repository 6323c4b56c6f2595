// `hearth run` as its users call it: real compilers and shells, real processes, one store.
#include "tests/support/action_bench.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace run_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

using bench = action_bench;

// The bytes that plain g++ makes of a file in a folder.
std::string plain_object(const fs::path& folder, const std::string& source) {
  const auto out = folder.parent_path() / "plain.o";
  const auto command =
      "cd '" + folder.string() + "' && g++ -c " + source + " -o '" + out.string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  return file_text(out);
}

} // namespace

TEST_CASE_FIXTURE(bench, "a compiler makes the same bytes as without Hearth, cold and warm") {
  write("a.cpp", "int f() { return 1; }\n");
  const words command{"g++", "-c", "a.cpp", "-o", "a.o"};
  check_quiet(run({"--in", "a.cpp", "--out", "a.o"}, command));
  CHECK(text("a.o") == plain_object(folder, "a.cpp"));
  fs::remove(folder / "a.o");
  check_quiet(run({"--in", "a.cpp", "--out", "a.o"}, command));
  CHECK(text("a.o") == plain_object(folder, "a.cpp"));
  CHECK(files() == words{"a.cpp", "a.o"});
}

TEST_CASE_FIXTURE(bench,
                  "a changed input runs the command again and the old input finds the old result") {
  const auto command = counted("cat a b > c");
  const words options{"--in", "a", "b", "--out", "c"};
  write("a", "1");
  write("b", "2");
  check_quiet(run(options, command));
  write("b", "3");
  check_quiet(run(options, command));
  CHECK(text("c") == "13");
  CHECK(runs() == 2);
  write("b", "2");
  check_quiet(run(options, command));
  CHECK(text("c") == "12");
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(bench, "an undeclared header that a dependency file names is an input") {
  write("include/h.hpp", "#define VALUE 1\n");
  write("a.cpp", "#include \"h.hpp\"\nint f() { return VALUE; }\n");
  const words command{"g++", "-MD", "-Iinclude", "-c", "a.cpp", "-o", "a.o"};
  const words options{"--in", "a.cpp", "--out", "a.o"};
  check_quiet(run(options, command));
  const auto first = text("a.o");
  write("include/h.hpp", "#define VALUE 2\n");
  check_quiet(run(options, command));
  const auto second = text("a.o");
  CHECK(first != second);
  write("include/h.hpp", "#define VALUE 1\n");
  fs::remove(folder / "a.o");
  check_quiet(run(options, command));
  CHECK(text("a.o") == first);
  CHECK(files() == words{"a.cpp", "a.o", "include"}); // the dependency file is no output
}

TEST_CASE_FIXTURE(bench, "a dependency file can be an output and has the rules that make needs") {
  write("h.hpp", "\n");
  write("a.cpp", "#include \"h.hpp\"\n");
  const words options{"--in", "a.cpp", "--out", "out/a.o", "--out", "out/a.d"};
  const words command{"g++", "-MD", "-nostdinc", "-c", "a.cpp", "-o", "out/a.o"};
  check_quiet(run(options, command));
  CHECK(text("out/a.d") == "out/a.o: a.cpp h.hpp\n");
  fs::remove_all(folder / "out");
  check_quiet(run(options, command));
  CHECK(text("out/a.d") == "out/a.o: a.cpp h.hpp\n");
}

TEST_CASE_FIXTURE(bench, "discovered inputs are found again without running the command") {
  write("a", "1");
  write("b", "2");
  const auto command = counted("cat a b > c; echo 'c: a b' > c.d");
  const words options{"--in", "a", "--out", "c", "--depfile", "c.d"};
  check_quiet(run(options, command));
  check_quiet(run(options, command));
  CHECK(runs() == 1);
  write("b", "3");
  check_quiet(run(options, command));
  CHECK(text("c") == "13");
  CHECK(runs() == 2);
  write("b", "2");
  check_quiet(run(options, command));
  CHECK(text("c") == "12");
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(bench, "a generator with three outputs materializes all of them, cold and warm") {
  const auto command = counted("echo one > a; mkdir -p deep; echo two > deep/b; printf '' > c; "
                               "chmod +x a; echo said; echo complained >&2");
  const words options{"--out", "a", "deep/b", "c"};
  for (int round = 0; round < 2; ++round) {
    const auto result = run(options, command);
    CHECK(result.status == 0);
    CHECK(result.out == "said\n");
    CHECK(result.err == "complained\n");
    CHECK(text("a") == "one\n");
    CHECK(text("deep/b") == "two\n");
    CHECK(fs::exists(folder / "c"));
    CHECK(::access((folder / "a").c_str(), X_OK) == 0);
    CHECK(::access((folder / "c").c_str(), X_OK) != 0);
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(bench, "an output that was not made is an error and no output is materialized") {
  const auto result = run({"--out", "a", "b"}, {"sh", "-c", "echo one > a"});
  CHECK(result.status == 125);
  CHECK_MESSAGE(result.err.find("without writing its output") != std::string::npos, result.err);
  CHECK(lines_of(result.err).size() == 1);
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(bench, "a failing command passes on its status and output and is run again") {
  write("a", "as it was");
  const auto command = counted("echo bad > a; echo out; echo err >&2; exit 42");
  for (int round = 1; round < 3; ++round) {
    const auto result = run({"--out", "a"}, command);
    CHECK(result.status == 42);
    CHECK(result.out == "out\n");
    CHECK(result.err == "err\n");
    CHECK(text("a") == "as it was");
    CHECK(runs() == static_cast<std::size_t>(round));
  }
}

TEST_CASE_FIXTURE(bench, "a failure is kept when the option asks for it") {
  const auto command = counted("echo out; echo err >&2; exit 3");
  for (int round = 0; round < 2; ++round) {
    const auto result = run({"--keep-failures"}, command);
    CHECK(result.status == 3);
    CHECK(result.out == "out\n");
    CHECK(result.err == "err\n");
  }
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(bench, "a failing compiler prints the same text as without Hearth") {
  write("bad.cpp", "int f( {\n");
  const auto result =
      run({"--in", "bad.cpp", "--out", "a.o"}, {"g++", "-c", "bad.cpp", "-o", "a.o"});
  CHECK(result.status == 1);
  CHECK(result.err.starts_with("bad.cpp:1:"));
  CHECK(files() == words{"bad.cpp"});
}

TEST_CASE_FIXTURE(bench, "two processes that run one action at once run its command once") {
  const started_mark mark(logs / "mark");
  // A lock, since what is read through a pipe would make the result unfit to be kept.
  const auto gate = (logs / "gate").string();
  const int gate_end = ::open(gate.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const auto command = counted(mark.command() + "; flock -s '" + gate + "' true; echo made > a");
  const auto page = (logs / "page").string();
  const words options{"--metrics", page, "--in", "input", "--out", "a"};
  const auto disk_misses = [&] {
    const std::string name = "hearth_misses_total{tier=\"disk\"} ";
    const auto all = file_text(page);
    const auto at = all.find(name);
    REQUIRE(at != std::string::npos);
    return std::stoi(all.substr(at + name.size()));
  };
  // The gate opens after the second process has read the input, which it does right before it asks.
  // If it missed more often than a later process does, it asked in time; otherwise the test repeats
  // with another input.
  bool has_waited = false;
  std::size_t rounds = 0;
  for (; !has_waited && rounds < 20; ++rounds) {
    write("input", std::to_string(rounds));
    REQUIRE(::flock(gate_end, LOCK_EX) == 0);
    auto first = start({"--in", "input", "--out", "a"}, command);
    mark.wait();
    const int watch = ::inotify_init1(IN_CLOEXEC);
    REQUIRE(::inotify_add_watch(watch, (folder / "input").c_str(), IN_OPEN) >= 0);
    auto second = start(options, command);
    pollfd opened{watch, POLLIN, 0};
    REQUIRE(::poll(&opened, 1, patience_ms) == 1);
    ::close(watch);
    REQUIRE(::flock(gate_end, LOCK_UN) == 0);
    check_quiet(first.wait());
    check_quiet(second.wait());
    CHECK(runs() == rounds + 1);
    CHECK(text("a") == "made\n");
    const auto missed = disk_misses();
    check_quiet(run(options, command));
    has_waited = missed > disk_misses();
  }
  ::close(gate_end);
  CHECK(has_waited);
  CHECK(runs() == rounds);
}

TEST_CASE_FIXTURE(bench, "a kill in the middle leaves no output and nothing running") {
  const started_mark mark(logs / "mark");
  const auto alive = (logs / "alive").string();
  REQUIRE(::mkfifo(alive.c_str(), 0600) == 0);
  const int alive_end = ::open(alive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto script = "exec 9> '" + alive + "'; echo one > a; " + mark.command() + "; [ -e '" +
                      (logs / "go").string() + "' ] || sleep 1000; echo two > b";
  auto killed = start({"--out", "a", "b"}, {"sh", "-c", script});
  mark.wait();
  killed.kill();
  CHECK(killed.wait().status == -SIGKILL);
  CHECK(files().empty());
  // The pipe ends when the last process that holds it is gone.
  pollfd ended{alive_end, POLLIN, 0};
  REQUIRE(::poll(&ended, 1, patience_ms) == 1);
  CHECK((ended.revents & POLLHUP) != 0);
  ::close(alive_end);
  // The process's lease is free too: the next one runs the command.
  const int drain = ::open(alive.c_str(), O_RDWR | O_CLOEXEC);
  write_text(logs / "go", "");
  check_quiet(run({"--out", "a", "b"}, {"sh", "-c", script}));
  ::close(drain);
  CHECK(text("a") == "one\n");
  CHECK(text("b") == "two\n");
}

TEST_CASE_FIXTURE(bench, "a signal kills the command's group and is the status") {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    const started_mark mark(logs / ("mark" + std::to_string(number)));
    auto running = start({"--out", "a"}, {"sh", "-c", mark.command() + "; sleep 1000"});
    mark.wait();
    running.signal(number);
    const auto result = running.wait();
    CHECK(result.status == 128 + number);
    CHECK_MESSAGE(result.err.empty(), result.err);
    CHECK(files().empty());
  }
}

TEST_CASE_FIXTURE(bench, "a command that a signal ends has that status") {
  CHECK(run({}, {"sh", "-c", "kill -9 $$"}).status == 137);
}

TEST_CASE_FIXTURE(bench, "a command is killed at its timeout and the result is not kept") {
  const auto command = counted("echo before; sleep 1000");
  for (int round = 1; round < 3; ++round) {
    const auto result = run({"--timeout", "300ms", "--keep-failures"}, command);
    CHECK(result.status == 124);
    CHECK(result.out == "before\n");
    CHECK(runs() == static_cast<std::size_t>(round));
  }
}

TEST_CASE_FIXTURE(bench, "the resources of a command are bounded") {
  const auto result =
      run({"--memory", "64MiB"}, {"dd", "if=/dev/zero", "of=/dev/null", "bs=256M", "count=1"});
  CHECK(result.status == 1);
  CHECK_MESSAGE(result.err.find("exhausted") != std::string::npos, result.err);
  const auto busy = run({"--cpu", "1s"}, {"sh", "-c", "while :; do :; done"});
  CHECK((busy.status == 128 + SIGXCPU || busy.status == 128 + SIGKILL));
}

TEST_CASE_FIXTURE(bench, "only named variables reach the command and its key") {
  ::setenv("HEARTH_TEST_NAMED", "one", 1);
  ::setenv("HEARTH_TEST_OTHER", "secret", 1);
  const auto command = counted("echo \"$HEARTH_TEST_NAMED|$HEARTH_TEST_OTHER|$HOME\"");
  const words options{"--env", "HEARTH_TEST_NAMED"};
  CHECK(run(options, command).out == "one||\n");
  ::setenv("HEARTH_TEST_OTHER", "another", 1);
  CHECK(run(options, command).out == "one||\n");
  CHECK(runs() == 1);
  ::setenv("HEARTH_TEST_NAMED", "two", 1);
  CHECK(run(options, command).out == "two||\n");
  CHECK(runs() == 2);
  ::unsetenv("HEARTH_TEST_NAMED");
  ::unsetenv("HEARTH_TEST_OTHER");
}

TEST_CASE_FIXTURE(bench, "stdin is empty") {
  const words command{"sh", "-c", "cat; echo end"};
  CHECK(run({}, command).out == "end\n");
  write_text(logs / "bytes", "some bytes\n");
  const auto given =
      program_run(line({"--no-cache"}, command), logs, folder, logs / "bytes").wait();
  CHECK(given.status == 0);
  CHECK(given.out == "end\n");
}

TEST_CASE_FIXTURE(bench, "programs that cannot be run have the statuses of env") {
  const auto missing = run({}, {"no-such-program-of-hearth"});
  CHECK(missing.status == 127);
  CHECK(lines_of(missing.err).size() == 1);
  write("plain", "no program");
  CHECK(run({}, {"./plain"}).status == 126);
  CHECK(run({}, {"./nothing"}).status == 127);
}

TEST_CASE_FIXTURE(bench, "a failure of Hearth itself is status 125 and one line") {
  const auto check = [&](const words& arguments, const std::string& said) {
    const auto result = program_run(arguments, logs, folder).wait();
    CHECK(result.status == 125);
    CHECK(result.out.empty());
    CHECK_MESSAGE(lines_of(result.err).size() == 1, result.err);
    CHECK_MESSAGE(result.err.find(said) != std::string::npos, result.err);
  };
  check(line({"--in", "missing"}, {"true"}), "missing");
  check(line({"--out", "a", "a"}, {"true"}), "named twice");
  check(line({"--timeout", "soon"}, {"true"}), "--timeout: 'soon' is no time");
  check(line({"--timeout", "90"}, {"true"}), "--timeout: '90' is no time"); // without a unit
  check({"run", "--store", store}, "there is no command");
  check({"run", "--store", store, "--unknown", "--", "true"}, "--unknown");
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(bench, "arguments of the command are its own even if they look like options") {
  const auto result = run({}, {"echo", "--in", "run", "--", "--help", "list"});
  CHECK(result.out == "--in run -- --help list\n");
}

TEST_CASE_FIXTURE(bench, "a command runs without a usable store") {
  write_text(store, "a file in its place");
  check_quiet(run({"--out", "a"}, counted("echo made > a")));
  check_quiet(run({"--out", "a"}, counted("echo made > a")));
  CHECK(text("a") == "made\n");
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(bench, "a command works on paths around its folder and on absolute ones") {
  write("a", "1");
  fs::create_directory(folder / "sub");
  const auto absolute = (folder / "made" / "b").string();
  auto arguments = line({"--in", "../a", "--out", absolute, "../c"},
                        {"sh", "-c", "cat ../a > '" + absolute + "'; cp ../a ../c; ls .."});
  const auto result = program_run(arguments, logs, folder / "sub").wait();
  CHECK(result.status == 0);
  CHECK(result.out == "a\nc\nmade\nsub\n");
  CHECK(text("made/b") == "1");
  CHECK(text("c") == "1");
}

TEST_CASE_FIXTURE(bench, "a file that is changed in place is both an input and an output") {
  write("a", "1");
  const auto command = counted("echo 2 >> a");
  check_quiet(run({"--in", "a", "--out", "a"}, command));
  CHECK(text("a") == "12\n");
  write("a", "1");
  check_quiet(run({"--in", "a", "--out", "a"}, command));
  CHECK(text("a") == "12\n");
  CHECK(runs() == 1);
}

TEST_CASE_FIXTURE(bench, "strict shows declared inputs alone") {
  write("a", "1");
  write("b", "2");
  const auto result = run({"--strict", "--in", "a"}, {"sh", "-c", "ls"});
  CHECK(result.out == "a\n");
}

TEST_CASE_FIXTURE(bench, "a folder is an input with all of its content") {
  write("tree/deep/a", "1");
  const auto command = counted("cat tree/deep/*");
  CHECK(run({"--in", "tree"}, command).out == "1");
  write("tree/deep/b", "2");
  CHECK(run({"--in", "tree"}, command).out == "12");
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(bench, "every run is in the trace and a hit is not") {
  const auto trace = (logs / "trace.json").string();
  check_quiet(run({"--trace", trace, "--out", "a"}, counted("echo > a")));
  const auto events = nlohmann::json::parse(file_text(trace)).at("traceEvents");
  std::vector<std::string> steps;
  for (const auto& event : events) {
    steps.push_back(event.at("cat"));
    CHECK(event.at("name") == "sh a");
    CHECK(event.at("args").at("key").get<std::string>().starts_with("results "));
  }
  std::sort(steps.begin(), steps.end());
  CHECK(steps == std::vector<std::string>{"compile", "insert", "wait"});
  check_quiet(run({"--trace", trace, "--out", "a"}, counted("echo > a")));
  CHECK(nlohmann::json::parse(file_text(trace)).at("traceEvents").empty());
}

TEST_CASE_FIXTURE(bench, "the counters of an action are written for Prometheus") {
  const auto path = (logs / "run.prom").string();
  check_quiet(run({"--metrics", path, "--out", "a"}, counted("echo > a")));
  CHECK(file_text(path).find("\nhearth_programs_total 1\n") != std::string::npos);
  check_quiet(run({"--metrics", path, "--out", "a"}, counted("echo > a")));
  CHECK(file_text(path).find("\nhearth_programs_total 0\n") != std::string::npos);
}

TEST_CASE_FIXTURE(bench, "a report that cannot be written costs no output") {
  for (const std::string report : {"--metrics", "--trace"}) {
    const auto path = (logs / "none" / "report").string();
    const auto result = run({report, path, "--out", "a"}, {"sh", "-c", "echo made > a; echo said"});
    CHECK(result.status == 125);
    CHECK(result.out == "said\n");
    CHECK(lines_of(result.err).size() == 1);
    CHECK_MESSAGE(result.err.find(path) != std::string::npos, result.err);
    CHECK(text("a") == "made\n");
    fs::remove(folder / "a");
  }
}

TEST_CASE_FIXTURE(bench, "without the cache a command is run each time") {
  check_quiet(run({"--no-cache", "--out", "a"}, counted("echo > a")));
  check_quiet(run({"--no-cache", "--out", "a"}, counted("echo > a")));
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(bench,
                  "a changed header of -isystem, which -MMD does not list, is no stale hit") {
  for (const auto* option : {"-MMD", "-MD", "-Wp,-MMD,a.d"}) {
    CAPTURE(option);
    write("system/value.h", "#define VALUE 1\n");
    write("a.cpp", "#include <value.h>\nint value = VALUE;\n");
    const words command{"g++", option, "-isystem", "system", "-c", "a.cpp", "-o", "a.o"};
    check_quiet(run({"--in", "a.cpp", "--out", "a.o"}, command));
    const auto first = text("a.o");
    write("system/value.h", "#define VALUE 2\n");
    check_quiet(run({"--in", "a.cpp", "--out", "a.o"}, command));
    CHECK(text("a.o") != first);
  }
}

} // namespace run_test
