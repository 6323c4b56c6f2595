#include "runtime/process/process_runner.hpp"

#include "runtime/process/worker_path.hpp"
#include "tests/runtime/process/process_support.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace process_runner_test {

using namespace hearth;
using namespace hearth::process;
using hearth::test::life_line;
using hearth::test::shell;

namespace {

subprocess_runner make_runner() { return subprocess_runner{find_worker().value()}; }

process_result run(const process_request& request, std::stop_token stop = {}) {
  auto result = make_runner().run(request, std::move(stop));
  REQUIRE_MESSAGE(result, result.error().text());
  return *result;
}

error refused(const process_request& request) {
  const auto result = make_runner().run(request, {});
  REQUIRE_FALSE(result);
  return result.error();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

void write_file(const std::filesystem::path& path, const std::string& content, bool executable) {
  std::ofstream(path) << content;
  if (executable) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

std::size_t open_descriptors() {
  std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Changes the disposition of a signal and restores it at the end of the scope.
class ignored_signal {
public:
  explicit ignored_signal(int number)
      : number_(number)
      , before_(std::signal(number, SIG_IGN)) {}
  ~ignored_signal() { std::signal(number_, before_); }

private:
  int number_;
  void (*before_)(int);
};

} // namespace

TEST_CASE("both streams, the report and the status of a program arrive") {
  auto request = shell("echo out; echo err >&2; cat; echo rep >&3; exit 7");
  request.input = "input\n";
  const auto result = run(request);
  CHECK(result.exit_status == 7);
  CHECK(result.signal == 0);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.cancelled);
  CHECK_FALSE(result.succeeded());
  CHECK(result.output == "out\nerr\ninput\n");
  CHECK(result.report == "rep\n");
  CHECK(result.wall_ns > 0);
  CHECK(run(shell("exit 0")).succeeded());
}

TEST_CASE("a signal that ends a program is reported as that signal") {
  const auto killed = run(shell("kill -9 $$"));
  CHECK(killed.signal == SIGKILL);
  CHECK_FALSE(killed.succeeded());
  CHECK_FALSE(killed.timed_out);
  CHECK(run(shell("kill -TERM $$")).signal == SIGTERM);
  CHECK(run(shell("kill -SEGV $$")).signal == SIGSEGV);
}

TEST_CASE("a program has exactly the environment it was given") {
  auto request = shell("");
  request.argv = {"env"};
  request.environment = {"B=two words", "PATH=/usr/bin:/bin", "EMPTY="};
  CHECK(run(request).output == "B=two words\nPATH=/usr/bin:/bin\nEMPTY=\n");
  request.environment = {};
  CHECK(run(request).output == "");
}

TEST_CASE("a program runs in the directory it was given") {
  test::temporary_directory folder;
  write_file(folder / "here", "#!/bin/sh\necho \"$0 $1\"; pwd -P\n", true);
  auto request = shell("pwd -P");
  request.directory = folder.path();
  const auto there = std::filesystem::canonical(folder.path()).string() + "\n";
  CHECK(run(request).output == there);
  request.argv = {"./here", "argument"};
  CHECK(contains(run(request).output, "here argument\n" + there));
}

TEST_CASE("a program is looked up in the PATH of its environment") {
  test::temporary_directory folder;
  write_file(folder / "only-here", "#!/bin/sh\necho found\n", true);
  std::filesystem::create_directory(folder / "first");
  write_file(folder / "first/only-here", "not for execution", false);
  auto request = shell("");
  request.argv = {"only-here"};
  request.environment = {"PATH=" + (folder / "first").string() + ":" + folder.path().string()};
  CHECK(run(request).output == "found\n");
}

TEST_CASE("a program has only its own descriptors") {
  const int stray = ::open("/dev/null", O_RDONLY);
  REQUIRE(stray >= 0);
  CHECK(run(shell("ls /proc/$$/fd; true")).output == "0\n1\n2\n3\n");
  ::close(stray);
}

TEST_CASE("a program starts with default signals and without core dumps") {
  const ignored_signal first(SIGPIPE);
  const ignored_signal second(SIGUSR1);
  auto request = shell("");
  request.argv = {"grep", "-E", "SigBlk|SigIgn", "/proc/self/status"};
  CHECK(run(request).output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  CHECK(run(shell("ulimit -c")).output == "0\n");
}

TEST_CASE("a program that is not found is an error, not a status of 127") {
  auto request = shell("exit 127");
  CHECK(run(request).exit_status == 127);
  request.argv = {"hearth-no-such-program"};
  CHECK(refused(request).code() == errc::program_not_found);
  CHECK(contains(refused(request).text(), "hearth-no-such-program"));
  CHECK(contains(refused(request).text(), "/usr/bin:/bin"));
  request.argv = {"/nowhere/program"};
  CHECK(refused(request).code() == errc::program_not_found);
  CHECK(contains(refused(request).text(), "/nowhere/program"));
}

TEST_CASE("a file that cannot be executed is an error with the reason") {
  test::temporary_directory folder;
  auto request = shell("");
  write_file(folder / "plain", "text", false);
  request.argv = {folder / "plain"};
  CHECK(refused(request).code() == errc::program_refused);
  CHECK(contains(refused(request).text(), "Permission denied"));
  request.argv = {folder.path()};
  CHECK(contains(refused(request).text(), "Is a directory"));
  write_file(folder / "garbage", "\x7f no program", true);
  request.argv = {folder / "garbage"};
  CHECK(contains(refused(request).text(), "Exec format error"));
  write_file(folder / "script", "#!/nowhere/interpreter\n", true);
  request.argv = {folder / "script"};
  CHECK(contains(refused(request).text(), "No such file"));
}

TEST_CASE("a missing directory is an error that names it") {
  auto request = shell("exit 0");
  request.directory = "/nowhere/at/all";
  CHECK(refused(request).code() == errc::process_failed);
  CHECK(contains(refused(request).text(), "/nowhere/at/all"));
}

TEST_CASE("invalid requests are refused") {
  auto request = shell("exit 0");
  request.argv = {};
  CHECK(refused(request).code() == errc::invalid_argument);
  request.argv = {"echo", std::string("a\0b", 3)};
  CHECK(refused(request).code() == errc::invalid_argument);
  request = shell("exit 0");
  request.environment.push_back(std::string("A=\0", 3));
  CHECK(refused(request).code() == errc::invalid_argument);
}

TEST_CASE("arguments too long for the system are an error") {
  auto request = shell("exit 0");
  request.argv.push_back(std::string(1 << 20, 'x'));
  CHECK(contains(refused(request).text(), "Argument list too long"));
  request.argv.push_back(std::string(16 << 20, 'x'));
  CHECK(refused(request).code() == errc::too_large);
}

TEST_CASE("a supervisor that cannot be started is an error that names it") {
  subprocess_runner missing("/nowhere/hearth-worker");
  const auto result = missing.run(shell("exit 0"), {});
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == errc::process_failed);
  CHECK(contains(result.error().text(), "/nowhere/hearth-worker"));
}

TEST_CASE("a supervisor that is another program is an error") {
  test::temporary_directory folder;
  write_file(folder / "other", "#!/bin/sh\necho of another version; exit 2\n", true);
  subprocess_runner other(folder / "other");
  const auto result = other.run(shell("exit 0"), {});
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == errc::process_failed);
  CHECK(contains(result.error().text(), "ended with status 2: of another version"));
}

TEST_CASE("long output keeps its beginning and its end") {
  auto request = shell("echo first; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo last");
  request.output_limit = 10'000;
  const auto& output = run(request).output;
  CHECK(output.size() <= 10'000);
  CHECK(output.size() > 9'000);
  CHECK(output.starts_with("first\nxxx"));
  CHECK(output.ends_with("xxx\nlast\n"));
  CHECK(contains(output, " bytes left out ...]\n"));
}

TEST_CASE("a report is kept within its bound") {
  const auto result = run(shell("head -c 3000000 /dev/zero >&3; echo end"));
  CHECK(result.report.size() == max_report_bytes);
  CHECK(result.output == "end\n");
}

TEST_CASE("a program that never stops writing is stopped at its deadline") {
  auto request = shell("exec yes");
  request.deadline = std::chrono::milliseconds(200);
  request.output_limit = 1000;
  const auto result = run(request);
  CHECK(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(result.output.size() <= 1000);
}

TEST_CASE("input larger than a pipe reaches a program that reads it") {
  auto request = shell("tr -d '\\n' | wc -c");
  request.input = std::string(3'000'000, 'i');
  CHECK(run(request).output == "3000000\n");
}

TEST_CASE("unread input larger than a pipe does not block the run") {
  auto request = shell("exit 5");
  request.input = std::string(3'000'000, 'i');
  CHECK(run(request).exit_status == 5);
  request = shell("exec 0<&-; exit 6");
  request.input = std::string(3'000'000, 'i');
  CHECK(run(request).exit_status == 6);
}

TEST_CASE("a program may close its streams and go on") {
  const auto result = run(shell("echo said; exec >&- 2>&- 3>&-; true; exit 9"));
  CHECK(result.output == "said\n");
  CHECK(result.exit_status == 9);
}

TEST_CASE("the deadline ends the whole tree") {
  life_line line;
  auto request = shell(test::tree_script(line.path()));
  request.deadline = std::chrono::seconds(1);
  const auto result = run(request);
  CHECK(result.timed_out);
  CHECK_FALSE(result.cancelled);
  CHECK(result.signal == SIGKILL);
  CHECK(line.goes_dead());
}

TEST_CASE("a deadline of zero or of the distant future is one") {
  auto request = shell("exec sleep 1000");
  request.deadline = std::chrono::milliseconds(0);
  CHECK(run(request).timed_out);
  request.deadline = std::chrono::milliseconds(-5);
  CHECK(run(request).timed_out);
  request = shell("exit 3");
  request.deadline = std::chrono::milliseconds::max();
  CHECK(run(request).exit_status == 3);
}

TEST_CASE("a stop ends the whole tree") {
  life_line line;
  std::stop_source stop;
  std::jthread stopper([&] {
    if (line.hears(4)) stop.request_stop();
  });
  const auto result = run(shell(test::tree_script(line.path())), stop.get_token());
  stopper.join();
  CHECK(result.cancelled);
  CHECK_FALSE(result.timed_out);
  CHECK(result.signal == SIGKILL);
  CHECK(line.goes_dead());
}

TEST_CASE("a stop before the start starts nothing") {
  test::temporary_directory folder;
  std::stop_source stop;
  stop.request_stop();
  const auto result = run(shell("touch " + (folder / "ran").string()), stop.get_token());
  CHECK(result.cancelled);
  CHECK_FALSE(std::filesystem::exists(folder / "ran"));
}

TEST_CASE("processes that a program leaves in the background end with it") {
  life_line line;
  const auto result =
      run(shell("exec 9>" + line.path() + "; sleep 1000 & setsid sleep 1000 & exit 4"));
  CHECK(result.exit_status == 4);
  CHECK(line.goes_dead());
}

TEST_CASE("a stopped tree is killed like any other") {
  life_line line;
  auto request = shell("exec 9>" + line.path() + "; sleep 1000 & kill -STOP $! $$");
  request.deadline = std::chrono::milliseconds(500);
  CHECK(run(request).timed_out);
  CHECK(line.goes_dead());
}

TEST_CASE("a tree that goes on forking is killed") {
  life_line line;
  auto request = shell("exec 9>" + line.path() +
                       "; for i in 1 2 3 4; do setsid sh -c "
                       "'while true; do sh -c \"exit 0\"; done' & done; wait");
  request.deadline = std::chrono::milliseconds(500);
  CHECK(run(request).timed_out);
  CHECK(line.goes_dead());
}

TEST_CASE("a program that kills its supervisor is an error and dies") {
  life_line line;
  const auto why = refused(shell("exec 9>" + line.path() + "; kill -9 $PPID; exec sleep 1000"));
  CHECK(why.code() == errc::process_failed);
  CHECK(contains(why.text(), "killed by SIGKILL"));
  CHECK(line.goes_dead());
}

TEST_CASE("a supervisor that is told to terminate ends its tree too") {
  life_line line;
  const auto result =
      run(shell("exec 9>" + line.path() + "; setsid sleep 1000 & kill -TERM $PPID; wait"));
  CHECK(result.signal == SIGKILL);
  CHECK_FALSE(result.timed_out);
  CHECK_FALSE(result.cancelled);
  CHECK(line.goes_dead());
}

TEST_CASE("no process is left when the host is killed") {
  life_line line;
  const auto host = ::fork();
  REQUIRE(host >= 0);
  if (host == 0) {
    line.let_go();
    (void)make_runner().run(shell(test::tree_script(line.path())), {});
    ::_exit(0);
  }
  CHECK(line.hears(4));
  ::kill(host, SIGKILL);
  int status = 0;
  CHECK(::waitpid(host, &status, 0) == host);
  CHECK(WIFSIGNALED(status));
  CHECK(line.goes_dead());
}

TEST_CASE("no process is left when the host is killed though a forked copy of it lives") {
  life_line line;
  life_line alive;
  int hold[2];
  REQUIRE(::pipe2(hold, O_CLOEXEC) == 0);
  const auto host = ::fork();
  REQUIRE(host >= 0);
  if (host == 0) {
    ::close(hold[1]);
    line.let_go();
    std::thread([&] {
      (void)make_runner().run(shell(test::tree_script(line.path())), {});
    }).detach();
    char byte = 'f';
    // The copy inherits the host's end of the control socket, and lives until the test releases it.
    (void)!::read(hold[0], &byte, 1);
    if (::fork() == 0) (void)!::write(::open(alive.path().c_str(), O_WRONLY), &byte, 1);
    (void)!::read(hold[0], &byte, 1);
    ::_exit(0);
  }
  ::close(hold[0]);
  REQUIRE(line.hears(4));
  REQUIRE(::write(hold[1], "g", 1) == 1);
  CHECK(alive.hears(1));
  ::kill(host, SIGKILL);
  CHECK(::waitpid(host, nullptr, 0) == host);
  CHECK(line.goes_dead());
  ::close(hold[1]);
  CHECK(alive.goes_dead());
}

TEST_CASE("the host keeps its own children and signal dispositions") {
  int hold[2];
  REQUIRE(::pipe2(hold, O_CLOEXEC) == 0);
  const auto own = ::fork();
  REQUIRE(own >= 0);
  if (own == 0) {
    ::close(hold[1]);
    char byte = 0;
    (void)!::read(hold[0], &byte, 1);
    ::_exit(42);
  }
  ::close(hold[0]);
  for (int i = 0; i < 5; ++i)
    CHECK(run(shell("exit 0")).succeeded());
  struct sigaction pipe_action {};
  REQUIRE(::sigaction(SIGPIPE, nullptr, &pipe_action) == 0);
  CHECK(bool(pipe_action.sa_handler == SIG_DFL));
  CHECK(::waitpid(own, nullptr, WNOHANG) == 0);
  ::close(hold[1]);
  int status = 0;
  CHECK(::waitpid(own, &status, 0) == own);
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a host that ignores SIGCHLD still learns how its programs end") {
  const ignored_signal ignored(SIGCHLD);
  CHECK(run(shell("exit 11")).exit_status == 11);
  CHECK(run(shell("kill -9 $$")).signal == SIGKILL);
}

TEST_CASE("runs leave no descriptor behind") {
  const auto run_all = [] {
    CHECK(run(shell("exit 0")).succeeded());
    std::stop_source stop;
    CHECK(run(shell("exit 0"), stop.get_token()).succeeded());
    auto late = shell("exec sleep 1000");
    late.deadline = std::chrono::milliseconds(0);
    CHECK(run(late).timed_out);
    late.argv = {"hearth-no-such-program"};
    CHECK(refused(late).code() == errc::program_not_found);
    late = shell("");
    late.directory = "/nowhere";
    CHECK(refused(late).code() == errc::process_failed);
  };
  run_all();
  const auto before = open_descriptors();
  for (int i = 0; i < 5; ++i)
    run_all();
  CHECK(open_descriptors() == before);
}

TEST_CASE("many threads run programs at once and each gets its own") {
  constexpr int runs = 50;
  std::atomic<int> next{0};
  std::atomic<int> right{0};
  auto runner = make_runner();
  const auto work = [&] {
    for (int i = next++; i < runs; i = next++) {
      auto request = shell("read line; echo $line out; echo $line rep >&3; exit $line");
      request.input = std::to_string(i) + "\n";
      const auto result = runner.run(request, {});
      const auto text = std::to_string(i);
      right += result && result->exit_status == i && result->output == text + " out\n" &&
               result->report == text + " rep\n";
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back(work);
  }
  CHECK(right == runs);
}

TEST_CASE("a host without standard streams runs programs all the same") {
  const auto host = ::fork();
  REQUIRE(host >= 0);
  if (host == 0) {
    for (int number = 0; number < 16; ++number)
      ::close(number);
    auto request = shell("cat; echo err >&2; echo rep >&3; exit 7");
    request.input = "in ";
    const auto result = make_runner().run(request, {});
    const bool right = result && result->output == "in err\n" && result->report == "rep\n" &&
                       result->exit_status == 7;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  CHECK(::waitpid(host, &status, 0) == host);
  CHECK(status == 0);
}

TEST_CASE("stderr is kept separate on request") {
  auto request = shell("echo out; echo err >&2; echo more");
  request.streams_apart = true;
  const auto result = run(request);
  CHECK(result.output == "out\nmore\n");
  CHECK(result.errors == "err\n");
}

TEST_CASE("separate streams each have the limit, and never block the program") {
  auto request = shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890; "
                       "echo 0123456789012345678901234567890 >&2; i=$((i+1)); done; echo end");
  request.streams_apart = true;
  request.output_limit = 1000;
  const auto result = run(request);
  CHECK(result.succeeded());
  CHECK(result.output.size() <= 1000);
  CHECK(result.errors.size() <= 1000);
  CHECK(result.output.ends_with("end\n"));
  CHECK(contains(result.errors, "bytes left out"));
}

TEST_CASE("a program may not exceed its limits") {
  auto request = shell("ulimit -t; ulimit -n; ulimit -f; ulimit -v");
  request.limits = {std::uint64_t{512} << 20, 7, 1024 * 1024, 50};
  CHECK(run(request).output == "7\n50\n2048\n524288\n");
}

} // namespace process_runner_test
