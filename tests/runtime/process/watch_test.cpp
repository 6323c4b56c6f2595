// Watched runs: what a program and its descendants look at, in ordinary and in unusual ways.
#include "messages/sighting.hpp"
#include "runtime/process/process_runner.hpp"
#include "runtime/process/worker_path.hpp"
#include "tests/runtime/process/process_support.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace watch_test {

using namespace hearth;
using namespace hearth::process;
using hearth::test::life_line;
using hearth::test::shell;
namespace fs = std::filesystem;

namespace {

struct watched {
  process_result result;
  std::vector<sighting> all{};

  const sighting* find(const fs::path& path) const {
    const auto at = std::find_if(all.begin(), all.end(), [&](const sighting& one) {
      return fs::path(one.path).lexically_normal() == path;
    });
    return at == all.end() ? nullptr : &*at;
  }
  bool has_seen(const fs::path& path) const {
    const auto* const one = find(path);
    return one && one->was_there;
  }
  bool has_listed(const fs::path& path) const {
    return std::any_of(all.begin(), all.end(),
                       [&](const sighting& one) { return one.path == path && one.was_listed; });
  }
  bool has_missed(const fs::path& path) const {
    const auto* const one = find(path);
    return one && !one->was_there;
  }
};

watched run(process_request request, watching how = watching::files) {
  request.watch = how;
  auto result = subprocess_runner{find_worker().value()}.run(request, {});
  REQUIRE_MESSAGE(result, result.error().text());
  watched made{std::move(*result)};
  if (how == watching::none) return made;
  auto seen = read_sightings(made.result.sightings);
  REQUIRE(seen);
  made.all = std::move(*seen);
  return made;
}

struct folder {
  folder() { std::ofstream(path / "file") << "content"; }
  test::temporary_directory directory;
  fs::path path = fs::canonical(directory.path());
  fs::path file = path / "file";

  process_request looks(const std::string& how) const {
    process_request request;
    request.argv = {WATCHED_CALLS, how, file.string()};
    request.environment = {"PATH=/usr/bin:/bin"};
    request.deadline = std::chrono::milliseconds(test::patience_ms);
    return request;
  }
};

} // namespace

TEST_CASE_FIXTURE(folder, "watch: files that are opened, asked about, listed and looked for") {
  fs::create_directory(path / "listed");
  fs::create_symlink("file", path / "link");
  auto request = shell("cat file; ls listed; test -e absent; cat link; [ -x listed/none ]; exit 0");
  request.directory = path;
  const auto seen = run(request, watching::files_and_links);
  CHECK(seen.result.blind_spot == "");
  CHECK(seen.result.output == "contentcontent");
  CHECK(seen.has_seen(file));
  CHECK(seen.has_seen(path / "link"));
  CHECK(seen.has_missed(path / "absent"));
  CHECK(seen.has_missed(path / "listed" / "none"));
  CHECK(seen.has_listed(path / "listed"));
  CHECK_FALSE(seen.has_listed(file));
  CHECK(seen.has_seen("/usr/bin/cat"));
}

TEST_CASE_FIXTURE(folder, "watch: links in the scratch directory are followed at each look") {
  const auto root = path / "scratch" / "root";
  fs::create_directories(root / path.relative_path());
  fs::create_symlink(file, root / file.relative_path());
  auto request = shell("ln -s file own; cat own; rm own; readlink file; readlink -f gone; exit 0");
  request.scratch = path / "scratch";
  request.directory = root / path.relative_path();
  const auto seen = run(request, watching::files_and_links);
  const auto* const read = seen.find(file);
  REQUIRE(read);
  CHECK(read->from_scratch);
  CHECK(read->base == file.string().size());
  CHECK(seen.has_missed(root / path.relative_path() / "own")); // when it was made
  CHECK(seen.has_missed(root / path.relative_path() / "gone"));
  const auto* const link = seen.find(root / file.relative_path());
  REQUIRE(link);
  CHECK(link->is_shown);
  CHECK(link->told_place);
}

TEST_CASE_FIXTURE(folder, "watch: links and interpreters without end") {
  fs::create_directories(path / "scratch" / "one");
  auto request =
      shell("ln -s ../one/x x; cat x; ln -s y y; cat y; "
            "echo '#!s1' > s0; for i in $(seq 99); do echo \"#!s$((i+1))\" > s$i; done; "
            "chmod +x s*; ./s0; printf '#!%s\\n' \"$PWD/s\" > s; chmod +x s; ./s; exit 0");
  request.scratch = path / "scratch" / "one";
  request.directory = request.scratch;
  const auto seen = run(request, watching::files_and_links);
  CHECK(seen.result.succeeded());
  CHECK(seen.result.blind_spot == "");
  CHECK(seen.find(path / "scratch" / "one" / "s0"));
}

TEST_CASE_FIXTURE(folder, "watch: files that are only written are not seen") {
  const auto seen = run(shell("echo > '" + (path / "made").string() + "'"));
  CHECK(seen.result.succeeded());
  CHECK_FALSE(seen.find(path / "made"));
}

TEST_CASE_FIXTURE(folder, "watch: a run that is not watched says nothing") {
  const auto seen = run(looks("posix_spawn"), watching::none);
  CHECK(seen.result.succeeded());
  CHECK(seen.result.sightings == "");
  CHECK(seen.result.blind_spot == "");
}

TEST_CASE_FIXTURE(folder,
                  "watch: status, output and time limit are those of a run that is not watched") {
  auto request = shell("cat; echo err >&2; exit 7");
  request.input = "input";
  const auto seen = run(request);
  CHECK(seen.result.exit_status == 7);
  CHECK(seen.result.output == "inputerr\n");
  auto endless = shell("while :; do cat " + file.string() + "; done");
  endless.deadline = std::chrono::milliseconds(300);
  endless.output_limit = 100;
  CHECK(run(endless).result.timed_out);
  CHECK(run(shell("kill -SEGV $$")).result.signal == SIGSEGV);
}

TEST_CASE_FIXTURE(folder, "watch: unusual ways to look at a file are seen") {
  for (const auto* how :
       {"vfork", "posix_spawn", "execveat", "openat2", "io_uring", "seccomp", "own_listener",
        "own_folder", "proc", "passed_on", "mapped", "descendants", "signals"}) {
    CAPTURE(how);
    const auto seen = run(looks(how));
    CHECK_MESSAGE(seen.result.succeeded(), seen.result.output);
    CHECK(seen.result.blind_spot == "");
    CHECK(seen.has_seen(file));
  }
  // The kernel opens a program by itself.
  CHECK(run(looks("execveat")).has_seen(fs::canonical("/bin") / "cat"));
}

TEST_CASE_FIXTURE(folder, "watch: what cannot be seen is said") {
  for (const auto* how : {"chroot", "other_architecture", "in_root"}) {
    CAPTURE(std::string(how));
    const auto seen = run(looks(how));
    if (seen.result.exit_status == 77 || seen.result.signal != 0) {
      MESSAGE("not tested: this system has no " << std::string(how));
      continue;
    }
    CHECK(seen.result.succeeded());
    CHECK(seen.result.blind_spot != "");
  }
}

TEST_CASE_FIXTURE(folder, "watch: a path that is longer than the kernel takes") {
  auto deep = path;
  for (int i = 0; i < 100; ++i)
    deep /= "a folder with a name that is rather long";
  auto request = shell("cat " + deep.string() + "/file; exit 0");
  const auto seen = run(request);
  CHECK(seen.result.succeeded());
  CHECK(seen.result.blind_spot == "");
}

TEST_CASE_FIXTURE(folder,
                  "watch: a program that is left with its descendants is killed with them") {
  life_line line;
  auto request = shell(hearth::test::tree_script(line.path()));
  request.watch = watching::files;
  std::stop_source stop;
  std::thread other([&] {
    CHECK(line.hears(4));
    stop.request_stop();
  });
  const auto result = subprocess_runner{find_worker().value()}.run(request, stop.get_token());
  other.join();
  REQUIRE(result);
  CHECK(result->cancelled);
  CHECK(line.goes_dead());
}

// A supervisor that is killed answers no calls: the kernel fails them, and the program is killed.
TEST_CASE_FIXTURE(folder, "watch: a watcher that is killed leaves nothing behind") {
  life_line line;
  auto request =
      shell("exec 9>" + line.path() + "; printf a >&9; kill -KILL $PPID; while :; do cat " +
            file.string() + " >/dev/null; done");
  request.watch = watching::files;
  const auto result = subprocess_runner{find_worker().value()}.run(request, {});
  CHECK_FALSE(result);
  CHECK(line.goes_dead());
}

TEST_CASE_FIXTURE(folder, "watch: a watcher that is stopped does not outlast the time limit") {
  life_line line;
  auto request = shell("exec 9>" + line.path() + "; printf a >&9; kill -STOP $PPID; cat " +
                       file.string() + "; exec sleep 1000");
  request.watch = watching::files;
  request.deadline = std::chrono::milliseconds(500);
  (void)subprocess_runner{find_worker().value()}.run(request, {});
  CHECK(line.goes_dead());
}

// HEARTH_KILLED_COMMANDS=1000 is the long form.
TEST_CASE_FIXTURE(folder, "watch: commands and watchers that are killed at random leave nothing") {
  const auto* const asked = std::getenv("HEARTH_KILLED_COMMANDS");
  const int rounds = asked ? std::atoi(asked) : 25;
  std::minstd_rand random(29);
  const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  for (int round = 0; round < rounds; ++round) {
    life_line line;
    // The supervisor, the command, or a descendant is killed after some looks at files.
    const auto* const victim = std::array{"$PPID", "$$", "$child"}[below(3)];
    const auto looks = "for i in $(seq " + std::to_string(1 + below(20)) + "); do cat '" +
                       file.string() + "' > /dev/null; done";
    auto request = shell("exec 9>'" + line.path() + "'; (while :; do cat '" + file.string() +
                         "' > /dev/null; done) & child=$!; " + looks + "; kill -KILL " + victim +
                         "; " + looks);
    request.watch = watching::files;
    CAPTURE(request.argv.back());
    const auto result = subprocess_runner{find_worker().value()}.run(request, {});
    CHECK(result.has_value() == (victim != std::string("$PPID")));
    CHECK(line.goes_dead());
  }
}

TEST_CASE("watch: reports of sightings that are damaged are refused") {
  sighting one, other;
  one.path = "/a";
  one.was_there = one.was_run = one.from_scratch = true;
  one.device = 7;
  one.inode = 8;
  other.path = "/b/c";
  other.base = 2;
  other.follows = false;
  other.was_listed = other.told_place = other.is_shown = true;
  const std::vector<sighting> seen{one, other};
  const auto bytes = encode_sightings(seen);
  const auto read = read_sightings(bytes);
  REQUIRE(read);
  CHECK(*read == seen);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(read_sightings(bytes.substr(0, size)));
  CHECK_FALSE(read_sightings("a/b"));
  CHECK_FALSE(read_sightings(std::string("@b\0", 3)));
  CHECK_FALSE(read_sightings(std::string("\x3f/b\0", 4)));
  CHECK_FALSE(read_sightings(bytes + "."));
  CHECK(read_sightings(encode_sightings({}))->empty());
}

} // namespace watch_test
