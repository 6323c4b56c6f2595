// What sightings amount to as questions, and their answers as inputs.
#include "runtime/fingerprints/watched/inputs.hpp"
#include "runtime/fingerprints/watched/questions.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace watched_test {

using namespace hearth;
using namespace hearth::fingerprints;
namespace fs = std::filesystem;
using kind = file_question::kind;
using questions = std::set<file_question>;

namespace {

struct memo_in_memory : fact_memo {
  std::optional<std::string> load(std::string_view key) override {
    const auto at = all.find(std::string(key));
    return at == all.end() ? std::nullopt : std::optional(at->second);
  }
  void save(std::string_view key, std::string_view bytes) override {
    all[std::string(key)] = bytes;
  }
  std::map<std::string, std::string> all;
};

// A project, and the place of a scratch directory that shows it as `scratch_view` does.
struct project {
  project() {
    fs::create_directories(folder / "sub");
    fs::create_directories(base / "shared");
    write("a.c", "a");
    write("sub/x.h", "x");
    write("../shared/s", "s");
    view.folder = folder.string();
    view.shows_all = true;
    view.places = {(folder / "out").string(), (folder / "made" / "out").string()};
  }

  void write(const std::string& name, const std::string& text) const {
    test::write_text(folder / name, text);
    const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ::utimensat(AT_FDCWD, (folder / name).c_str(), long_ago, 0);
  }
  // An absolute path that was looked at.
  sighting named(const fs::path& path, bool was_there = true, bool follows = true) const {
    struct stat found {};
    (void)(follows ? ::stat(path.c_str(), &found) : ::lstat(path.c_str(), &found));
    sighting one;
    one.path = path;
    one.follows = follows;
    one.was_there = was_there;
    one.device = was_there ? found.st_dev : 0;
    one.inode = was_there ? found.st_ino : 0;
    return one;
  }
  // A name relative to a folder of the host.
  sighting from(const fs::path& start, const std::string& name) const {
    auto one = named(start / name);
    one.base = start.string().size();
    return one;
  }
  sighting missed_from(const fs::path& start, const std::string& name) const {
    auto one = from(start, name);
    one.was_there = false;
    return one;
  }
  // What the program came to from the scratch directory, by the link that shows `entry`.
  sighting shown(const std::string& entry, const std::string& name = "") const {
    const auto path = (folder / entry).lexically_normal();
    auto one = name.empty() ? named(path) : from(path, name);
    one.base = path.string().size();
    one.from_scratch = true;
    return one;
  }
  // What lies in the scratch directory itself.
  sighting in_scratch(const std::string& name, bool was_there = false, bool follows = true) const {
    sighting one;
    one.path = scratch / "root" / folder.relative_path() / name;
    one.from_scratch = true;
    one.was_there = was_there;
    one.follows = follows;
    return one;
  }
  expected<watched_questions> look(const std::vector<sighting>& all) const {
    return questions_of(all, {scratch.string(), view});
  }
  questions ask(const std::vector<sighting>& all) const {
    auto found = look(all);
    REQUIRE(found);
    return found->asked;
  }
  // The questions of a program that ran in the folder itself, beneath an overlay.
  watched_questions look_covered(const std::vector<sighting>& all) const {
    auto found = questions_of(all, {scratch.string(), view, true});
    REQUIRE(found);
    return *found;
  }

  test::temporary_directory directory;
  fs::path base = fs::canonical(directory.path());
  fs::path folder = base / "work";
  fs::path scratch = base / "scratches" / "one";
  scratch_view view;
};

} // namespace

TEST_CASE_FIXTURE(project, "watched inputs: paths in the scratch directory are the project's") {
  CHECK(ask({shown("a.c")}) == questions{{kind::content, "a.c"}});
  CHECK(ask({shown("sub", "x.h")}) == questions{{kind::content, "sub/x.h"}});
  CHECK(ask({in_scratch("absent")}) == questions{{kind::content, "absent"}});
  CHECK(ask({named(scratch / "temporary")}).empty());
  CHECK(ask({named(scratch.parent_path())}).empty());
  CHECK(ask({in_scratch("out"), in_scratch("made", true), in_scratch("made/out")}).empty());
  for (const auto* of_kernel :
       {"/proc/self/status", "/dev/null", "/dev", "/sys/kernel", "/tmp/hsperfdata_me"})
    CHECK(ask({named(of_kernel)}).empty());
  CHECK(ask({named("/dev/shm/absent", false)}) == questions{{kind::content, "/dev/shm/absent"}});
  const auto env = look({named("/usr/bin/env")});
  REQUIRE(env);
  CHECK(env->asked == questions{{kind::content, "/usr/bin/env"}});
}

TEST_CASE_FIXTURE(project, "watched inputs: what the program made itself is absent on the host") {
  CHECK(ask({in_scratch("new", true)}) == questions{{kind::content, "new"}});
  CHECK(ask({in_scratch("folder/in it")}) == questions{{kind::content, "folder"}});
}

TEST_CASE_FIXTURE(project, "watched inputs: what else the scratch directory tells") {
  auto listed = in_scratch("sub/..", true);
  listed.path = (scratch / "root" / folder.relative_path()).string();
  CHECK(ask({listed}).empty()); // it is asked about, and the view has made it
  listed.was_listed = true;
  CHECK(ask({listed}) == questions{{kind::listing, "."}});
  view.places.clear(); // also if it makes nothing there
  CHECK(ask({listed}) == questions{{kind::listing, "."}});
  CHECK(ask({in_scratch("absent", false, false)}) ==
        questions{{kind::content, "absent"}, {kind::link, "absent"}});
  auto told = in_scratch("absent");
  told.told_place = true;
  CHECK(ask({told}) == questions{{kind::content, "absent"}, {kind::place, "absent"}});
  view.shows_all = false; // what is there is declared
  CHECK(ask({in_scratch("absent")}).empty());
}

TEST_CASE_FIXTURE(project, "watched inputs: what else a path of the host tells") {
  auto listed = shown("sub");
  listed.was_listed = true;
  CHECK(ask({listed}) == questions{{kind::content, "sub"}, {kind::listing, "sub"}});
  auto told = shown("sub");
  told.told_place = true;
  CHECK(ask({told}) == questions{{kind::content, "sub"}, {kind::place, "sub"}});
  fs::create_symlink("sub", folder / "link");
  auto itself = named(base / "shared" / "s", true, false);
  CHECK(ask({itself}) ==
        questions{{kind::content, itself.path}, {kind::link, itself.path}}); // it is no link
  itself = from(folder, "link");
  const auto link = named(folder / "link", true, false);
  itself.follows = false;
  itself.inode = link.inode;
  CHECK(ask({itself}) == questions{{kind::link, "link"}});
  // "a/" is not there if a is a file.
  CHECK(ask({missed_from(folder, "a.c/")}) == questions{{kind::content, "a.c"}});
}

TEST_CASE_FIXTURE(project, "watched inputs: beneath an overlay") {
  const auto asked = [&](const std::vector<sighting>& all) { return look_covered(all).asked; };
  CHECK(asked({from(folder, "out"), from(folder, "made"), from(folder, "made/out")}).empty());
  auto listed = from(folder, "made");
  listed.was_listed = true;
  CHECK(asked({listed}) == questions{{kind::listing, "made"}});
  // A folder that it has made is below one of the host's.
  CHECK(asked({missed_from(folder / "own", "x")}) == questions{{kind::content, "own"}});
  auto told = missed_from(folder, "own");
  told.told_place = true;
  CHECK(asked({told}) == questions{{kind::content, "own"}, {kind::place, "."}});
  auto run = missed_from(folder, "own/tool");
  run.was_run = true;
  CHECK(look_covered({run}).programs == std::set<std::string>{run.path});
}

TEST_CASE_FIXTURE(project, "watched inputs: links are questions of their own") {
  fs::create_symlink("sub", folder / "link");
  CHECK(ask({shown("link", "x.h")}) == questions{{kind::link, "link"}, {kind::content, "sub/x.h"}});
  CHECK(ask({from(folder, "link/x.h")}) == ask({shown("link", "x.h")})); // run in the folder itself
  // The folder that ".." leaves has to stay a folder.
  CHECK(ask({shown("sub", "../a.c")}) == questions{{kind::link, "sub"}, {kind::content, "a.c"}});
}

TEST_CASE_FIXTURE(project, "watched inputs: a program that saw a link of the view saw no file") {
  auto itself = in_scratch("a.c", true, false);
  itself.is_shown = true;
  CHECK(look({itself}).error().code() == errc::unsupported);
  CHECK(look({itself}).error().text().find("symbolic link") != std::string::npos);
  CHECK(look({itself, in_scratch("a.c")}).error().code() == errc::unsupported); // and removed it
  itself.follows = true;
  CHECK(ask({itself}) == questions{{kind::content, "a.c"}});
}

TEST_CASE_FIXTURE(project,
                  "watched inputs: a path that was spelled as absolute binds the checkout") {
  CHECK(ask({named(folder / "a.c")}) ==
        questions{{kind::content, "a.c"}, {kind::content, (folder / "a.c").string()}});
  const auto shared = (base / "shared" / "s").string();
  CHECK(ask({named(shared)}) == questions{{kind::content, shared}});
}

TEST_CASE_FIXTURE(project,
                  "watched inputs: a path that was come to by relative names is relative") {
  const auto shared = base / "shared";
  CHECK(ask({shown("sub", "../../shared/s")}) ==
        questions{{kind::link, "sub"}, {kind::link, "."}, {kind::content, "../shared/s"}});
  // By a working folder that it came to so.
  CHECK(ask({shown("../shared"), from(shared, "s")}) ==
        questions{{kind::content, "../shared"}, {kind::content, "../shared/s"}});
  // By one that it named absolute.
  CHECK(ask({named(shared), from(shared, "s")}) ==
        questions{{kind::content, shared.string()}, {kind::content, (shared / "s").string()}});
  // Below one that it came to so, also by an absolute name that it may have made from it.
  fs::create_directory(shared / "deep");
  write("../shared/deep/t", "t");
  CHECK(ask({shown("../shared"), from(shared / "deep", "t")}) ==
        questions{{kind::content, "../shared"}, {kind::content, "../shared/deep/t"}});
  auto missed = shown("../shared", "none");
  missed.was_there = false;
  CHECK(ask({missed, named(shared / "s")}).contains({kind::content, "../shared/s"}));
  const auto both = ask({shown("../shared"), named(shared / "s")});
  CHECK(both.contains({kind::content, "../shared/s"}));
  CHECK(both.contains({kind::content, (shared / "s").string()}));
  fs::create_symlink("shared", base / "other");
  CHECK(ask({shown("../other"), from(shared, "s")}).contains({kind::content, "../shared/s"}));
  // A file of the system, too, if it was named so.
  const auto env = fs::path("/usr/bin/env").lexically_relative(folder).string();
  CHECK(ask({from(folder, env)}).contains({kind::content, env}));
  fs::create_symlink(shared, folder / "absolute");
  CHECK(ask({shown("absolute", "s")}) ==
        questions{{kind::link, "absolute"}, {kind::content, (shared / "s").string()}});
}

TEST_CASE_FIXTURE(project, "watched inputs: programs are known by all of their names") {
  write("tool", "");
  fs::create_symlink("tool", folder / "called");
  auto run = shown("called"), made = in_scratch("made/tool", true);
  run.was_run = made.was_run = true;
  const auto found = look({run, made});
  REQUIRE(found);
  CHECK(found->programs ==
        std::set<std::string>{(folder / "called").string(), (folder / "tool").string(), made.path});
}

TEST_CASE_FIXTURE(project, "watched inputs: what appears after the scratch directory was made") {
  CHECK(look({in_scratch("a.c")}).error().code() == errc::busy);
  CHECK(look({in_scratch("sub", true)}).error().code() == errc::busy);
  // Unless the program has removed the link to it.
  CHECK(look({shown("a.c"), in_scratch("a.c")}));
}

TEST_CASE_FIXTURE(project,
                  "watched inputs: a path that leaves all scratch directories is the host's") {
  fs::create_directory(scratch.parent_path());
  const auto out = scratch.parent_path() / ".." / "shared" / "s";
  const auto shared = (base / "shared" / "s").string();
  CHECK(ask({named(out)}).contains({kind::content, shared}));
}

TEST_CASE_FIXTURE(project, "watched inputs: files that come, go or are replaced meanwhile") {
  CHECK(look({named(folder / "sub" / "x.h", false)}).error().code() == errc::busy);
  auto gone = named(folder / "sub" / "x.h");
  fs::remove(folder / "sub" / "x.h");
  CHECK(look({gone}).error().code() == errc::busy);
  write("sub/y.h", "y");
  auto replaced = named(folder / "sub" / "y.h");
  ++replaced.inode;
  CHECK(look({replaced}).error().code() == errc::busy);
  --replaced.inode;
  CHECK(look({replaced}));
  ++replaced.device;
  CHECK(look({replaced}).error().code() == errc::busy);
}

TEST_CASE_FIXTURE(project, "watched inputs: a listing has no outputs, and the folders for them") {
  memo_in_memory memo;
  start_of_run start;
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  file_view files;
  const questions all{{kind::listing, "."}, {kind::listing, "made"}};
  const auto inputs = watched_inputs(all, false, start, {view, files, memo});
  REQUIRE(inputs);
  const auto change = [&](const std::string& in) {
    file_view now;
    return change_in(in, sha256(in), {view, now, memo}).value_or("no inputs");
  };
  fs::create_directory(folder / "made");
  write("made/out", "");
  write("out", "");
  CHECK(change(*inputs) == "");
  write("made/other", "");
  CHECK(change(*inputs) == "made changed");
  fs::remove(folder / "made" / "other");
  fs::remove_all(folder / "sub");
  write("sub", ""); // another kind of file
  CHECK(change(*inputs) == ". changed");
  fs::remove(folder / "sub");
  fs::create_directory(folder / "sub");
  CHECK(change(*inputs) == "");
  fs::rename(folder / "a.c", folder / "b.c");
  CHECK(change(*inputs) == ". changed");
  fs::rename(folder / "b.c", folder / "a.c");
  CHECK(change(*inputs) == "");
}

TEST_CASE_FIXTURE(project,
                  "watched inputs: a listing of another command, which makes other files") {
  memo_in_memory memo;
  file_view files;
  const auto inputs =
      watched_inputs({{kind::listing, "made"}}, false, start_of_run(), {view, files, memo});
  REQUIRE(inputs);
  CHECK(change_in(*inputs, sha256(*inputs), {view, files, memo}) == "");
  view.places.clear();
  CHECK(change_in(*inputs, sha256(*inputs), {view, files, memo}) == "made is gone");
}

TEST_CASE_FIXTURE(project, "watched inputs: an observation holds until an answer changes") {
  memo_in_memory memo;
  // The file system's times are as of a run that starts later.
  start_of_run start;
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  const questions asked{{kind::content, "a.c"},     {kind::content, "absent"},
                        {kind::listing, "sub"},     {kind::link, "sub"},
                        {kind::content, "sub/x.h"}, {kind::content, "/usr/bin/env"}};
  const auto change = [&](const std::string& inputs) {
    file_view files;
    return change_in(inputs, sha256(inputs), {view, files, memo}).value_or("no inputs");
  };
  file_view files;
  const auto inputs = watched_inputs(asked, false, start, {view, files, memo});
  REQUIRE(inputs);
  CHECK(change(*inputs) == "");
  CHECK(change(*inputs) == ""); // by the memo
  write("sub/x.h", "x");
  CHECK(change(*inputs) == "");
  write("a.c", "b");
  CHECK(change(*inputs) == "a.c changed");
  write("a.c", "a");
  CHECK(change(*inputs) == "");
  write("absent", "");
  CHECK(change(*inputs) == "absent appeared");
  fs::remove(folder / "absent");
  fs::permissions(folder / "a.c", fs::perms::owner_all);
  CHECK(change(*inputs) == "a.c changed");
  fs::permissions(folder / "a.c", fs::perms::owner_read);
  write("sub/z.h", "");
  CHECK(change(*inputs) == "sub changed");
  fs::remove(folder / "sub" / "z.h");
  CHECK(change(*inputs) == "");
  fs::rename(folder / "sub", folder / "other");
  fs::create_symlink("other", folder / "sub");
  CHECK(change(*inputs) == "sub changed");
}

TEST_CASE_FIXTURE(project, "watched inputs: times of links and folders, where they are told") {
  memo_in_memory memo;
  start_of_run start;
  file_view files;
  fs::create_symlink("sub", folder / "link");
  const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
  const auto touch = [&](const char* name, long seconds) {
    const timespec later[2] = {times[0], {1'000'000'000 + seconds, 0}};
    ::utimensat(AT_FDCWD, (folder / name).c_str(), later, AT_SYMLINK_NOFOLLOW);
  };
  fs::create_directory(folder / "made");
  for (const auto* name : {"link", "sub", "made"})
    touch(name, 0);
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  for (const bool with_status : {false, true}) {
    const questions all{{kind::link, "link"}, {kind::content, "sub"}, {kind::content, "made"}};
    const auto inputs = watched_inputs(all, with_status, start, {view, files, memo});
    REQUIRE(inputs);
    const auto change = [&] {
      file_view now;
      return change_in(*inputs, sha256(*inputs), {view, now, memo}).value_or("no inputs");
    };
    for (const auto* name : {"link", "sub"}) {
      touch(name, 1);
      CHECK(change() == (with_status ? std::string(name) + " changed" : ""));
      touch(name, 0);
      CHECK(change() == "");
    }
    touch("made", 1); // outputs were put there
    CHECK(change() == "");
    touch("made", 0);
  }
}

TEST_CASE_FIXTURE(project, "watched inputs: modes and owners, where they are told") {
  memo_in_memory memo;
  start_of_run start;
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  file_view files;
  view.places.push_back((folder / "places" / "deep" / "out").string());
  fs::create_directory(folder / "places");
  const questions all{{kind::content, "a.c"}, {kind::content, "places"}};
  const auto inputs = watched_inputs(all, true, start, {view, files, memo});
  REQUIRE(inputs);
  const auto change = [&] {
    file_view now;
    return change_in(*inputs, sha256(*inputs), {view, now, memo}).value_or("no inputs");
  };
  fs::create_directory(folder / "places" / "deep"); // for an output
  CHECK(change() == "");
  fs::permissions(folder / "a.c", fs::perms::owner_read);
  CHECK(change() == "a.c changed");
  fs::permissions(folder / "a.c", fs::perms{0644});
  CHECK(change() == "");
  if (::geteuid() != 0) return;
  for (const auto& [user, group] : {std::pair{1U, 0U}, {0U, 1U}}) {
    REQUIRE(::chown((folder / "a.c").c_str(), user, group) == 0);
    CHECK(change() == "a.c changed");
    REQUIRE(::chown((folder / "a.c").c_str(), 0, 0) == 0);
    CHECK(change() == "");
  }
}

TEST_CASE_FIXTURE(project, "watched inputs: times of its own folder and of those above") {
  memo_in_memory memo;
  start_of_run start;
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  file_view files;
  view.places.clear();
  const questions all{{kind::content, "."}, {kind::content, ".."}};
  const auto inputs = watched_inputs(all, true, start, {view, files, memo});
  REQUIRE(inputs);
  write("new", "");
  write("../new", "");
  file_view now;
  CHECK(change_in(*inputs, sha256(*inputs), {view, now, memo}) == "");
}

TEST_CASE_FIXTURE(project, "watched inputs: a link that is turned") {
  memo_in_memory memo;
  const start_of_run start;
  start.wait_until_changes_show();
  file_view files;
  fs::create_symlink("sub", folder / "link");
  const questions all{{kind::link, "link"}};
  const auto turned = watched_inputs(all, false, start, {view, files, memo});
  REQUIRE_FALSE(turned);
  CHECK(turned.error().code() == errc::busy);
  start_of_run later;
  later.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  const auto inputs = watched_inputs(all, false, later, {view, files, memo});
  REQUIRE(inputs);
  const auto change = [&] {
    file_view now;
    return change_in(*inputs, sha256(*inputs), {view, now, memo}).value_or("no inputs");
  };
  CHECK(change() == "");
  fs::remove(folder / "link");
  fs::create_symlink("made", folder / "link");
  CHECK(change() == "link changed");
}

TEST_CASE_FIXTURE(project, "watched inputs: what changes after the start is not kept") {
  memo_in_memory memo;
  const auto failure = [&](const questions& all, bool with_status, const start_of_run& start,
                           file_view& files) {
    const auto inputs = watched_inputs(all, with_status, start, {view, files, memo});
    return inputs ? errc{} : inputs.error().code();
  };
  fs::create_directory(folder / "made");
  const start_of_run start;
  start.wait_until_changes_show();
  file_view before;
  (void)before.stamp((folder / "sub").string());
  test::write_text(folder / "a.c", "b");
  test::write_text(folder / "sub" / "new", "");
  test::write_text(folder / "made" / "out", "");
  file_view files;
  CHECK(failure({{kind::content, "a.c"}}, false, start, files) == errc::busy);
  CHECK(failure({{kind::listing, "sub"}}, false, start, files) == errc::busy);
  // The names are read later than the first stamp.
  CHECK(failure({{kind::listing, "sub"}}, false, start, before) == errc::busy);
  CHECK(failure({{kind::content, "sub"}}, false, start, files) == errc{});
  CHECK(failure({{kind::content, "sub"}}, true, start, files) == errc::busy); // its time is told
  CHECK(failure({{kind::content, "made"}}, true, start, files) == errc{});
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  start_of_run later;
  later.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  CHECK(failure({{kind::content, "fifo"}}, false, later, files) != errc{});
}

TEST_CASE_FIXTURE(project, "watched inputs: the stamp of what has just changed is not noted") {
  memo_in_memory memo;
  start_of_run start;
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  file_view files;
  write("a.c", "b"); // what is written next may have the same stamp
  const auto inputs = watched_inputs({{kind::content, "a.c"}}, false, start, {view, files, memo});
  REQUIRE(inputs);
  file_view now;
  CHECK(change_in(*inputs, sha256(*inputs), {view, now, memo}) == "");
  CHECK(memo.all.empty());
  packed_marks marks;
  CHECK_FALSE(add_marks(marks, *inputs, {view, now, memo}));
}

TEST_CASE_FIXTURE(project, "watched inputs: marks do not tell times and owners") {
  memo_in_memory memo;
  file_view files;
  const auto inputs =
      watched_inputs({{kind::content, "absent"}}, true, start_of_run(), {view, files, memo});
  REQUIRE(inputs);
  packed_marks marks;
  CHECK_FALSE(add_marks(marks, *inputs, {view, files, memo}));
}

TEST_CASE_FIXTURE(project, "watched inputs: damaged bytes hold for nothing") {
  memo_in_memory memo;
  start_of_run start;
  start.time_ns += std::chrono::nanoseconds(std::chrono::hours(1)).count();
  file_view files;
  const input_reader in{view, files, memo};
  const auto inputs =
      watched_inputs({{kind::content, "a.c"}, {kind::content, "/usr/bin/env"}}, false, start, in);
  REQUIRE(inputs);
  for (std::size_t at = 0; at < inputs->size(); ++at) {
    auto damaged = *inputs;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x11);
    file_view others;
    CHECK(change_in(damaged, sha256(damaged), {view, others, memo}) != "");
    CHECK_FALSE(change_in(inputs->substr(0, at), {}, {view, others, memo}));
  }
}

TEST_CASE("watched inputs: programs that tell times of files") {
  CHECK(reads_status("tar"));
  CHECK(reads_status("make"));
  CHECK(reads_status("x86_64-linux-gnu-ar"));
  CHECK(reads_status("gzip"));
  CHECK_FALSE(reads_status("gcc"));
}

} // namespace watched_test
