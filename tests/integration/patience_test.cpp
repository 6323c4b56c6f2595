// A build does not wait for what does not come: stopped processes, holders that never end, and
// leases on the server without an expiry.
#include "tests/support/action_bench.hpp"
#include "tests/support/local_redis.hpp"

#include <csignal>
#include <deque>

namespace patience_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// An action whose first run waits until `release` is called. Later runs end at once.
struct held_action : action_bench {
  held_action() {
    REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
    gate_end = ::open(gate.c_str(), O_RDWR | O_CLOEXEC);
    command = counted("waits=yes; [ -e '" + (logs / "go").string() + "' ] && waits=no; " +
                      mark.command() + "; [ $waits = no ] || read line < '" + gate.string() +
                      "'; echo made > a");
  }
  held_action(const held_action&) = delete;
  held_action& operator=(const held_action&) = delete;
  ~held_action() { ::close(gate_end); }

  words options(words more = {}) const {
    more.insert(more.end(), {"--out", "a"});
    return more;
  }
  void let_others_end() const { write_text(logs / "go", ""); }
  void release() const { REQUIRE(::write(gate_end, "go\n", 3) == 3); }
  // A run in the same place with another store, as on another host.
  program_run start_on(const std::string& host, const words& more) const {
    words line{"run", "--store", (directory / host).string()};
    for (const auto& word : options(more))
      line.push_back(word);
    line.push_back("--");
    line.insert(line.end(), command.begin(), command.end());
    return program_run(line, logs, folder);
  }

  started_mark mark{logs / "mark"};
  fs::path gate = logs / "gate";
  int gate_end = -1;
  words command;
};

} // namespace

TEST_CASE_FIXTURE(held_action, "seven processes do not wait for an eighth that is stopped") {
  auto stopped = start(options(), command);
  mark.wait();
  stopped.signal(SIGSTOP);
  let_others_end();
  std::deque<program_run> others;
  for (int i = 0; i < 7; ++i)
    others.push_back(start(options(), command));
  for (auto& one : others)
    check_quiet(one.wait());
  CHECK(runs() == 2);
  CHECK(text("a") == "made\n");
  // It goes on, and the entry is one that a later process finds.
  stopped.signal(SIGCONT);
  release();
  check_quiet(stopped.wait());
  check_quiet(run(options(), command));
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(held_action, "two hosts do not wait for a process that is stopped") {
  const local_redis redis;
  const words remote{"--remote", redis.url(), "--remote-lease", "2s", "--remote-deadline", "5s"};
  auto stopped = start_on("one", remote);
  mark.wait();
  stopped.signal(SIGSTOP);
  let_others_end();
  std::deque<program_run> others;
  for (const auto* host : {"one", "two", "one", "two"})
    others.push_back(start_on(host, remote));
  for (auto& one : others)
    check_quiet(one.wait());
  CHECK(runs() == 2);
  stopped.signal(SIGCONT);
  release();
  check_quiet(stopped.wait());
  check_quiet(start_on("three", remote).wait());
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(held_action, "a caller whose patience ends runs the action too") {
  auto holder = start(options(), command);
  mark.wait();
  let_others_end();
  check_quiet(run(options({"--patience", "300ms"}), command));
  CHECK(runs() == 2);
  release();
  check_quiet(holder.wait());
  check_quiet(run(options(), command));
  CHECK(runs() == 2);
}

TEST_CASE_FIXTURE(held_action, "a timeout counts from the request, not from the start of the run") {
  auto holder = start(options(), command);
  mark.wait();
  const auto result = run(options({"--timeout", "300ms"}), command);
  CHECK(result.status == 124);
  CHECK_MESSAGE(result.err.find("another process runs it") != std::string::npos, result.err);
  CHECK(runs() == 1);
  release();
  check_quiet(holder.wait());
}

TEST_CASE_FIXTURE(held_action, "a stopped holder is passed over within a timeout") {
  auto stopped = start(options(), command);
  mark.wait();
  stopped.signal(SIGSTOP);
  let_others_end();
  check_quiet(run(options({"--timeout", "60s"}), command));
  CHECK(runs() == 2);
  stopped.signal(SIGCONT);
  release();
  check_quiet(stopped.wait());
}

} // namespace patience_test
