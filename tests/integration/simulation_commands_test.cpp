// `hearth script` and `hearth simulate`: `hearth` starts the program that has them.
#include "tests/integration/terminal_run.hpp"
#include "tests/support/temporary_directory.hpp"

#include <csignal>
#include <sched.h>

namespace simulation_commands_test {

using namespace hearth::test;
namespace fs = std::filesystem;

const std::string script =
    std::string(HEARTH_SOURCE_DIR) + "/tests/scripts/guards_none_holds.script";

namespace {

// A command that prints to a pipe, which the test reads.
class piped_run {
public:
  explicit piped_run(const std::vector<std::string>& arguments) {
    REQUIRE(::pipe2(ends_, O_CLOEXEC) == 0);
    child_ = std::make_unique<child_process>([&]() -> int {
      ::signal(SIGINT, SIG_DFL); // ignored in what a shell starts in the background
      ::dup2(ends_[1], 1);
      return become_hearth(arguments);
    });
    ::close(ends_[1]);
  }
  ~piped_run() { ::close(ends_[0]); }

  // Returns when it has printed something: the watch of signals is there then.
  void wait_for_output() { REQUIRE(read_some()); }
  // Returns when it watches SIGINT.
  void wait_for_watch() const {
    const auto place = "/proc/" + std::to_string(child_->pid()) + "/status";
    for (;; ::sched_yield()) {
      const auto status = file_text(place);
      const auto at = status.find("SigBlk:\t");
      REQUIRE(at != std::string::npos);
      const auto blocked = std::stoull(status.substr(at + 8, 16), nullptr, 16);
      if ((blocked >> (SIGINT - 1)) & 1) return;
    }
  }
  // Returns the last lines that it prints.
  std::string interrupt() {
    child_->kill(SIGINT);
    while (read_some()) {
    }
    return tail_;
  }
  int wait() { return child_->wait(); }

private:
  bool read_some() {
    constexpr std::size_t kept = 4096;
    char part[65536];
    const auto got = ::read(ends_[0], part, sizeof part);
    if (got <= 0) return false;
    tail_.append(part, static_cast<std::size_t>(got));
    if (tail_.size() > kept) tail_.erase(0, tail_.size() - kept);
    return true;
  }

  int ends_[2] = {-1, -1};
  std::unique_ptr<child_process> child_;
  std::string tail_;
};

} // namespace

TEST_CASE("hearth starts the program of scripts and seeds, with options before and after") {
  const temporary_directory directory;
  const auto runs = run_hearth({"script", script, "--seeds", "1..3"}, directory.path());
  CHECK(runs.status == 0);
  CHECK(runs.out == "3 of 3 runs of 1 scripts passed\n");
  const auto json = run_hearth({"--json", "script", script}, directory.path());
  CHECK(json.json().at(0).at("passed") == true);
  const auto seeds = run_hearth({"simulate", "--seeds", "1..1"}, directory.path());
  CHECK(seeds.status == 0);
  CHECK(seeds.out.starts_with("1 of 1 seeds violated nothing"));
}

TEST_CASE("wrong arguments of scripts and seeds are one line and status 2") {
  const temporary_directory directory;
  check_error(run_hearth({"script"}, directory.path()), 2, "FILE");
  check_error(run_hearth({"script", "/nowhere"}, directory.path()), 2, "/nowhere");
  check_error(run_hearth({"simulate", "--sedes", "1"}, directory.path()), 2,
              "did you mean '--seeds'?");
  check_error(run_hearth({"simulate", "--seeds", "x"}, directory.path()), 2, "1..100");
  check_error(run_hearth({"--store", "s", "simulate", "--seeds", "1"}, directory.path()), 2,
              "--store");
}

TEST_CASE("without its program a command says what to build") {
  const temporary_directory directory;
  const auto alone = directory / "hearth";
  fs::copy_file(HEARTH_RUNTIME, alone);
  const auto command = alone.string() + " script x 2> " + (directory / "err").string();
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 3);
  const auto said = file_text(directory / "err");
  CHECK(lines_of(said).size() == 1);
  CHECK(said.find("build the target hearth-simulation") != std::string::npos);
  for (const auto& place : {directory / "hearth-simulation",
                            directory.path().parent_path() / "libexec/hearth/hearth-simulation"})
    CHECK_MESSAGE(said.find(place.string()) != std::string::npos, said);
}

TEST_CASE("Ctrl-C of scripts and seeds prints the summary so far and ends with 130") {
  piped_run seeds({"simulate", "--seeds", "1..1000000", "--trace"});
  seeds.wait_for_output();
  const auto of_seeds = lines_of(seeds.interrupt()).back();
  CHECK(seeds.wait() == 130);
  CHECK_MESSAGE(of_seeds.find(" seeds violated nothing: ") != std::string::npos, of_seeds);
  CHECK_FALSE(of_seeds.starts_with("1000000 "));
  piped_run scripts({"script", script, "--seeds", "1..100000000", "--trace"});
  scripts.wait_for_output();
  const auto of_scripts = lines_of(scripts.interrupt()).back();
  CHECK(scripts.wait() == 130);
  CHECK_MESSAGE(of_scripts.ends_with(" runs of 1 scripts passed"), of_scripts);
}

TEST_CASE("Ctrl-C does not wait for the end of a long seed") {
  piped_run days({"simulate", "--seeds", "1..2", "--minutes", "1440", "--json"});
  days.wait_for_watch();
  CHECK(nlohmann::json::parse(days.interrupt()).size() == 0);
  CHECK(days.wait() == 130);
}

} // namespace simulation_commands_test
