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

// A project, and a scratch directory that shows it as `scratch_view` does.
struct project {
  project() {
    fs::create_directories(folder / "sub");
    write("a.c", "a");
    write("sub/x.h", "x");
    fs::create_directories(shown);
    for (auto at = folder; at != at.root_path(); at = at.parent_path())
      fs::create_directories(scratch / "root" / at.relative_path());
    for (const auto* name : {"a.c", "sub"})
      fs::create_symlink(folder / name, shown / name);
    view.folder = folder.string();
    view.shows_all = true;
    view.places = {(folder / "out").string()};
  }

  void write(const std::string& name, const std::string& text) const {
    test::write_text(folder / name, text);
    const timespec long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ::utimensat(AT_FDCWD, (folder / name).c_str(), long_ago, 0);
  }
  sighting seen(const fs::path& path, bool was_there = true, bool follows = true) const {
    struct stat found {};
    (void)(follows ? ::stat(path.c_str(), &found) : ::lstat(path.c_str(), &found));
    return {path.string(),
            follows,
            true,
            was_there,
            false,
            false,
            was_there ? found.st_dev : 0,
            was_there ? found.st_ino : 0};
  }
  expected<questions> ask(const std::vector<sighting>& all) const {
    return questions_of(all, {scratch.string(), view});
  }

  test::temporary_directory directory;
  fs::path base = fs::canonical(directory.path());
  fs::path folder = base / "work";
  fs::path scratch = base / "scratches" / "one";
  fs::path shown = scratch / "root" / folder.relative_path();
  scratch_view view;
};

} // namespace

TEST_CASE_FIXTURE(project, "watched inputs: paths in the scratch directory are the project's") {
  CHECK(*ask({seen(shown / "a.c")}) == questions{{kind::content, "a.c"}});
  CHECK(*ask({seen(shown / "sub" / "x.h")}) == questions{{kind::content, "sub/x.h"}});
  CHECK(*ask({seen(shown / "absent", false)}) == questions{{kind::content, "absent"}});
  CHECK(ask({seen(scratch / "temporary")})->empty());
  CHECK(ask({seen(scratch.parent_path())})->empty());
  CHECK(ask({seen(shown / "out", false)})->empty());
  for (const auto* of_kernel : {"/proc/self/status", "/dev/null", "/dev", "/sys/kernel"})
    CHECK(ask({seen(of_kernel)})->empty());
  CHECK(*ask({seen("/dev/shm/absent", false)}) == questions{{kind::content, "/dev/shm/absent"}});
  CHECK(*ask({seen("/usr/bin/env")}) == questions{{kind::content, "/usr/bin/env"}});
}

TEST_CASE_FIXTURE(project, "watched inputs: what the program made itself is absent on the host") {
  test::write_text(shown / "made", "by the program");
  fs::create_directory(shown / "folder");
  CHECK(*ask({seen(shown / "made")}) == questions{{kind::content, "made"}});
  CHECK(*ask({seen(shown / "folder" / "in it", false)}) == questions{{kind::content, "folder"}});
}

TEST_CASE_FIXTURE(project, "watched inputs: links are questions of their own") {
  fs::create_symlink("sub", folder / "link");
  fs::create_symlink(folder / "link", shown / "link");
  CHECK(*ask({seen(shown / "link" / "x.h")}) ==
        questions{{kind::link, "link"}, {kind::content, "sub/x.h"}});
  CHECK(*ask({seen(folder / "link", true, false)}) == questions{{kind::link, "link"}});
  // The folder that ".." leaves has to stay a folder.
  CHECK(*ask({seen(folder / "sub" / ".." / "a.c")}) ==
        questions{{kind::link, "sub"}, {kind::content, "a.c"}});
}

TEST_CASE_FIXTURE(project,
                  "watched inputs: a path that was spelled as absolute binds the checkout") {
  auto spelled = seen(folder / "a.c");
  spelled.was_relative = false;
  CHECK(*ask({spelled}) ==
        questions{{kind::content, "a.c"}, {kind::content, (folder / "a.c").string()}});
}

TEST_CASE_FIXTURE(project, "watched inputs: files that come, go or are replaced meanwhile") {
  CHECK(ask({seen(folder / "sub" / "x.h", false)}).error().code() == errc::busy);
  auto gone = seen(folder / "sub" / "x.h");
  fs::remove(folder / "sub" / "x.h");
  CHECK(ask({gone}).error().code() == errc::busy);
  write("sub/y.h", "y");
  auto replaced = seen(folder / "sub" / "y.h");
  ++replaced.inode;
  CHECK(ask({replaced}).error().code() == errc::busy);
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
    return change_in(inputs, {view, files, memo});
  };
  file_view files;
  const auto inputs = watched_inputs(asked, false, start, {view, files, memo});
  REQUIRE(inputs);
  CHECK(are_watched_inputs(*inputs));
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
    CHECK(change_in(damaged, {view, others, memo}) != "");
    CHECK_FALSE(are_watched_inputs(inputs->substr(0, at)));
  }
}

TEST_CASE("watched inputs: programs that tell times of files") {
  CHECK(reads_status("tar"));
  CHECK(reads_status("make"));
  CHECK_FALSE(reads_status("gcc"));
}

} // namespace watched_test
