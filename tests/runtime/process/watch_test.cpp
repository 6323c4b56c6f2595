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
#include <optional>
#include <random>
#include <thread>
#include <utility>

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

// A folder beneath an overlay, with a file and a program, and a folder for temporary files.
struct covered_folder : folder {
  covered_folder() {
    fs::create_directories(host);
    for (const auto* name : {"changes", "kernel", "tmp"})
      fs::create_directories(path / "scratch" / name);
    std::ofstream(host / "x") << "content";
    fs::copy_file("/bin/cat", host / "i");
  }
  // Nothing: this system has no overlays.
  std::optional<watched> look(const std::string& script) const {
    const auto scratch = path / "scratch";
    auto request = shell(script);
    request.environment.push_back("TMPDIR=" + (scratch / "tmp").string());
    request.directory = host;
    request.scratch = scratch;
    request.cover =
        folder_cover{host, scratch / "changes", scratch / "kernel", scratch / "tmp", {}, {}};
    request.watch = watching::files_and_links;
    const auto result = subprocess_runner{find_worker().value()}.run(request, {});
    if (!result && result.error().code() == errc::unsupported) return std::nullopt;
    REQUIRE_MESSAGE(result, result.error().text());
    CHECK(result->blind_spot == "");
    auto seen = read_sightings(result->sightings);
    REQUIRE(seen);
    return watched{*result, std::move(*seen)};
  }
  // How a path, exactly as it is here, was seen.
  static const sighting* find(const watched& seen, const fs::path& path) {
    const auto at = std::find_if(seen.all.begin(), seen.all.end(),
                                 [&](const sighting& one) { return one.path == path; });
    return at == seen.all.end() ? nullptr : &*at;
  }

  fs::path host = path / "host";
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

TEST_CASE_FIXTURE(folder, "watch: what is seen again in another way is noted, too") {
  const auto listed = path / "listed";
  fs::create_directory(listed);
  fs::create_symlink("file", path / "link");
  auto request = shell("cat file; cat '" + file.string() +
                       "'; cat link; readlink link; ls listed; cd listed; exec sh -c 'pwd -P'");
  request.directory = path;
  const auto seen = run(request, watching::files_and_links);
  const auto is_seen = [&](const fs::path& at, auto how) {
    return std::any_of(seen.all.begin(), seen.all.end(),
                       [&](const sighting& one) { return one.path == at && how(one); });
  };
  CHECK(is_seen(file, [](const sighting& one) { return one.base == 0; }));
  CHECK(is_seen(file, [](const sighting& one) { return one.base > 0; }));
  CHECK(is_seen(path / "link", [](const sighting& one) { return one.follows; }));
  CHECK(is_seen(path / "link", [](const sighting& one) { return !one.follows; }));
  CHECK(is_seen(listed, [](const sighting& one) { return one.was_listed && one.told_place; }));
  // The shell has asked about it first.
  CHECK(is_seen("/usr/bin/cat", [](const sighting& one) { return one.was_run; }));
  request = shell("ls"); // and where its folder is
  request.directory = listed;
  CHECK(run(request, watching::files_and_links).has_listed(listed));
}

TEST_CASE_FIXTURE(folder, "watch: links in the scratch directory are followed at each look") {
  const auto root = path / "scratch" / "root";
  fs::create_directories(root / path.relative_path());
  fs::create_symlink(file, root / file.relative_path());
  std::ofstream(path / "other") << "content";
  fs::create_symlink(path / "other", root / path.relative_path() / "other");
  auto request = shell("ln -s file own; cat own; rm own; readlink file; readlink -f gone; "
                       "ln -s /proc/self/cwd me; cat me/other; exit 0");
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
  CHECK(seen.has_seen(path / "other"));
}

TEST_CASE_FIXTURE(folder, "watch: ways out of the scratch directory, and back") {
  const auto root = path / "scratch" / "root";
  const auto inside = root / path.relative_path();
  fs::create_directories(inside);
  fs::create_symlink(file, inside / "file");
  std::string up;
  for (auto at = inside; at.has_relative_path(); at = at.parent_path())
    up += "../";
  const auto host = "'" + file.string() + "'", back = (inside / "file").relative_path().string();
  for (const auto& [script, is_absolute] : std::vector<std::pair<std::string, bool>>{
           {"ln -s " + host + " own; cat own", true},
           {"cat '" + up + file.relative_path().string() + "'", true},
           {"ln -s \"$PWD/file\" own; cat own", false},
           {"cat '" + up + back + "'", false}}) {
    CAPTURE(script);
    auto request = shell(script);
    request.scratch = path / "scratch";
    request.directory = inside;
    const auto seen = run(request, watching::files_and_links);
    fs::remove(inside / "own");
    CHECK(seen.result.output == "content");
    const auto* const one = seen.find(file);
    REQUIRE(one);
    CHECK(one->was_there);
    CHECK(one->from_scratch == !is_absolute);
    CHECK(one->base == (is_absolute ? 0 : file.string().size()));
  }
}

TEST_CASE_FIXTURE(covered_folder,
                  "watch: beneath an overlay, ways through what the program makes") {
  fs::create_symlink("/proc/self/cwd", host / "self");
  for (const std::string script :
       {"ln -s x l; cat l; rm l", "ln -s \"$PWD/x\" l; cat l",
        "ln -s \"$PWD/x\" $TMPDIR/s; ln -s $TMPDIR/s l; cat l", "mkdir d; cd d; cat ../x",
        "ln -s /proc/self/cwd l; cat l/x", "cat self/x"}) {
    CAPTURE(script);
    const auto seen = look(script);
    if (!seen) {
      MESSAGE("not tested: this system lets us make no overlay");
      return;
    }
    fs::remove_all(path / "scratch" / "changes");
    fs::create_directory(path / "scratch" / "changes");
    CHECK(seen->result.output == "content");
    const auto* const one = find(*seen, host / "x");
    REQUIRE(one);
    CHECK(one->was_there);
    CHECK((one->base == 0 || one->base == host.string().size()));
  }
}

TEST_CASE_FIXTURE(covered_folder, "watch: beneath an overlay, how a way is named") {
  const auto seen = look("ln -s x l; cat l; mkdir d; cd d; cat ../none; ln -s y k; "
                         "readlink k; exit 0");
  if (!seen) {
    MESSAGE("not tested: this system lets us make no overlay");
    return;
  }
  const auto* const relative = find(*seen, host / "x");
  REQUIRE(relative);
  CHECK(relative->base == host.string().size()); // it is the same in another checkout
  const auto* const missed = find(*seen, host / "none");
  REQUIRE(missed);
  CHECK_FALSE(missed->was_there);
  CHECK_FALSE(find(*seen, host / "d" / "y")); // the link itself was read
}

TEST_CASE_FIXTURE(covered_folder, "watch: beneath an overlay, interpreters of what it makes") {
  const auto seen = look("printf '#!%s/i\\n' \"$PWD\" > t; chmod +x t; ./t");
  if (!seen) {
    MESSAGE("not tested: this system lets us make no overlay");
    return;
  }
  CHECK(seen->result.output == "#!" + (host / "i").string() + "\n");
  const auto* const interpreter = find(*seen, host / "i");
  REQUIRE(interpreter);
  CHECK(interpreter->was_run);
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
        "own_folder", "fault", "proc", "passed_on", "mapped", "descendants", "signals"}) {
    CAPTURE(how);
    const auto seen = run(looks(how));
    CHECK_MESSAGE(seen.result.succeeded(), seen.result.output);
    CHECK(seen.result.blind_spot == "");
    CHECK(seen.has_seen(file));
  }
  // The kernel opens a program by itself.
  CHECK(run(looks("execveat")).has_seen(fs::canonical("/bin") / "cat"));
  const auto program = path / "program";
  fs::copy_file("/bin/true", program);
  auto request = looks("fexecve");
  request.argv.back() = program;
  const auto seen = run(request);
  CHECK(std::any_of(seen.all.begin(), seen.all.end(),
                    [&](const sighting& one) { return one.path == program && one.was_run; }));
}

TEST_CASE_FIXTURE(folder, "watch: interpreters that the kernel opens") {
  fs::copy_file("/bin/cat", path / "last");
  for (const auto& [name, next] : {std::pair{"first", "second"}, {"second", "last"}}) {
    std::ofstream(path / name) << "#!" << (path / next).string() << "\n";
    fs::permissions(path / name, fs::perms::owner_all);
  }
  const auto seen = run(shell("'" + (path / "first").string() + "'"));
  CHECK(seen.result.succeeded());
  for (const auto* name : {"second", "last"}) {
    const auto* const one = seen.find(path / name);
    REQUIRE(one);
    CHECK(one->was_there);
    CHECK(one->was_run);
  }
}

TEST_CASE_FIXTURE(folder,
                  "watch: each system call that names a file, and whether it follows links") {
  const std::vector<std::string> following{"open",
                                           "stat",
                                           "access",
                                           "chmod",
                                           "chown",
                                           "utime",
                                           "utimes",
                                           "futimesat",
                                           "openat",
                                           "statx",
                                           "faccessat",
                                           "faccessat2",
                                           "newfstatat",
                                           "execve",
                                           "execveat",
                                           "statfs",
                                           "truncate",
                                           "fchmodat",
                                           "fchownat",
                                           "utimensat",
                                           "getxattr",
                                           "listxattr",
                                           "chdir",
                                           "setxattr",
                                           "removexattr",
                                           "fchmodat2",
                                           "open_tree",
                                           "name_to_handle_at",
                                           "inotify_add_watch"};
  const std::vector<std::string> others{"open, no link",
                                        "lstat",
                                        "mkdir",
                                        "readlink",
                                        "rename",
                                        "renameat",
                                        "link",
                                        "link, new",
                                        "symlink",
                                        "mknod",
                                        "unlink",
                                        "rmdir",
                                        "lchown",
                                        "openat, no link",
                                        "openat2, no link",
                                        "newfstatat, no link",
                                        "statx, no link",
                                        "faccessat2, no link",
                                        "readlinkat",
                                        "execveat, no link",
                                        "mkdirat",
                                        "renameat2",
                                        "renameat2, new",
                                        "linkat",
                                        "linkat, new",
                                        "symlinkat",
                                        "mknodat",
                                        "unlinkat",
                                        "fchownat, no link",
                                        "utimensat, no link",
                                        "lgetxattr",
                                        "llistxattr",
                                        "lsetxattr",
                                        "lremovexattr",
                                        "fchmodat2, no link",
                                        "open_tree, no link",
                                        "inotify_add_watch, no link"};
  const auto look = [&](const std::string& call, bool follows) {
    CAPTURE(call);
    const auto link = path / "link";
    fs::remove(link);
    fs::create_symlink("nowhere", link);
    auto request = looks("call " + call);
    request.argv.back() = link;
    const auto seen = run(request, watching::files_and_links);
    if (seen.result.exit_status == 77) return;
    const auto* const one = seen.find(link);
    REQUIRE(one);
    CHECK(one->follows == follows);
    CHECK(one->was_there == !follows);
    CHECK(one->was_run == call.starts_with("exec"));
    CHECK(one->was_listed == (call == "rmdir" || call == "unlinkat"));
  };
  for (const auto& call : following)
    look(call, true);
  for (const auto& call : others)
    look(call, false);
  const auto listing = run(looks("getdents"));
  CHECK((listing.has_listed(path) || listing.result.exit_status == 77));
}

TEST_CASE_FIXTURE(folder, "watch: paths through the links of /proc") {
  for (const std::string way :
       {"/proc/self/cwd/file", "/proc/thread-self/cwd/file", "/proc/$$/cwd/file",
        "/proc/$$/task/$$/cwd/file", "/proc/self/root$PWD/file", "/proc/self/fd/3/file",
        "/dev/fd/3/file"}) {
    CAPTURE(way);
    auto request = shell("exec 3<.; cat " + way);
    request.directory = path;
    const auto seen = run(request);
    CHECK(seen.result.output == "content");
    CHECK(seen.result.blind_spot == "");
    CHECK(seen.has_seen(file));
  }
  auto relative = shell("exec 3<.; cd /proc/self; cat fd/3/file");
  relative.directory = path;
  const auto seen = run(relative, watching::files_and_links);
  REQUIRE(seen.find(file));
  CHECK(seen.find(file)->base == 0);
  auto tells = shell("readlink /proc/self/cwd");
  tells.directory = path;
  const auto told = run(tells, watching::files_and_links);
  CHECK(std::any_of(told.all.begin(), told.all.end(), [&](const sighting& one) {
    return one.path == path && one.told_place && !one.follows;
  }));
  // The supervisor was not started by a call that is watched.
  const auto program = run(shell("cat /proc/$PPID/exe > /dev/null"));
  CHECK(program.has_seen(fs::canonical(find_worker().value())));
  const auto through = run(shell("cat /proc/self/fdinfo/../cwd/file; exit 0"));
  CHECK(through.result.blind_spot != "");
}

TEST_CASE_FIXTURE(folder, "watch: opens to write that tell something") {
  auto request = shell("cat 0<>file; dd if=/dev/null of=absent conv=nocreat; "
                       "dd if=/dev/null of=made conv=excl; exit 0");
  request.directory = path;
  const auto seen = run(request);
  CHECK(seen.has_seen(file));              // it may be read
  CHECK(seen.has_missed(path / "absent")); // it is not made
  CHECK(seen.has_missed(path / "made"));   // it is made only if it was not there
}

TEST_CASE_FIXTURE(folder, "watch: a path that ends in a slash follows links") {
  fs::create_directory(path / "target");
  fs::create_symlink("target", path / "link");
  for (const std::string end : {"/", "/."}) {
    CAPTURE(end);
    auto request = shell("stat '" + (path / "link").string() + end + "'");
    const auto seen = run(request, watching::files_and_links);
    const auto at = std::find_if(seen.all.begin(), seen.all.end(), [&](const sighting& one) {
      return one.path.starts_with((path / "link").string());
    });
    REQUIRE(at != seen.all.end());
    CHECK(at->follows);
    CHECK(at->path.ends_with('/'));
  }
}

TEST_CASE_FIXTURE(folder, "watch: what cannot be seen is said") {
  for (const auto* how :
       {"chroot", "call pivot_root", "call mount", "call umount2", "call move_mount", "call setns",
        "call open_by_handle_at", "other_architecture", "in_root"}) {
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
  auto request = shell("cat '" + deep.string() + "/file'; exit 0");
  const auto seen = run(request);
  CHECK(seen.result.succeeded());
  CHECK(seen.result.blind_spot == "");
}

TEST_CASE_FIXTURE(folder,
                  "watch: a working folder with a path that is longer than the kernel tells") {
  auto request = shell("n=$(printf %0200d 0); for i in $(seq 25); do mkdir $n; cd -P $n; done; "
                       "cat x; exit 0");
  request.directory = path;
  const auto seen = run(request);
  CHECK(seen.result.succeeded());
  CHECK(seen.result.blind_spot != "");
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
