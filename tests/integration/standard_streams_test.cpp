// Programs that are started without standard streams, as by daemons: nothing that these commands
// print ends in a file of the store, and each ends as it does with streams.
#include "tests/support/hearth_program.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/small_plan.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <vector>

namespace standard_streams_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// A command of hearth, as a shell reads it, and its exit status.
struct command {
  std::string line;
  int status;
};

constexpr int failed_run = 7;

const std::vector<command> commands{
    {"insert --store S k file", 0},
    {"insert --store S k file", 1},
    {"put --store S k other", 0},
    {"get --store S k -o got", 0},
    {"get --store S missing", 1},
    {"list --store S", 0},
    {"stats --store S", 0},
    {"run --store S --in file --out copy -- cp file copy", 0},
    {"run --store S --in file --out copy -- cp file copy", 0},
    {"run --store S -- sh -c 'echo said; echo failed >&2; exit 7'", failed_run},
    {"bundle export --store S bundle", 0},
    {"compile --store S plan.toml", 0},
    {"compile --store S none.toml", 2},
    {"verify --store S", 0},
    {"erase --store S missing", 1},
    {"get --store S", 2},
    {"put --store /proc/none k file", 3},
    {"erase --store S k", 0},
    {"evict --store S --to 0", 0},
    {"clear --store S", 0},
};

int status_of(const fs::path& folder, const std::string& line) {
  const auto inside = "cd '" + folder.string() + "' && exec " + line;
  const int ended = std::system(inside.c_str());
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
}

// The files of the store that hold a part of a message.
std::vector<std::string> files_with_messages(const fs::path& store) {
  std::vector<std::string> found;
  for (const auto& one : fs::recursive_directory_iterator(store)) {
    if (!one.is_regular_file()) continue;
    const auto bytes = file_text(one.path());
    for (const auto* part : {"inserted", "hearth: ", "intact: ", "erased", "entries"})
      if (bytes.find(part) != std::string::npos) found.push_back(one.path().string() + ": " + part);
  }
  return found;
}

// Runs every command with these streams. `unprinted`: the status of a run whose text cannot be
// printed.
void check_all(const std::string& streams, int unprinted) {
  const temporary_directory directory;
  write_text(directory / "file", "one value");
  write_text(directory / "other", "another value");
  write_small_plan(directory.path());
  for (const auto& [line, status] : commands) {
    CAPTURE(line);
    const auto ended = status_of(directory.path(), HEARTH_PROGRAM " " + line + " " + streams);
    CHECK(ended == (status == failed_run ? unprinted : status));
    CHECK(files_with_messages(directory / "S") == std::vector<std::string>{});
  }
  CHECK(status_of(directory.path(), HEARTH_PROGRAM " verify --store S >verified 2>&1") == 0);
  CHECK(file_text(directory / "got") == "another value");
  CHECK(file_text(directory / "copy") == "one value");
}

} // namespace

TEST_CASE("twenty commands end as with streams when any of the standard streams are closed") {
  std::vector<std::string> all{"<&- >&- 2>&-", "<&- >out 2>err", "</dev/null >&- 2>err",
                               "</dev/null >out 2>&-"};
  if (!is_sanitized)
    for (const auto* two : {"<&- >&- 2>err", "<&- >out 2>&-", "</dev/null >&- 2>&-"})
      all.push_back(two);
  for (const auto& streams : all) {
    CAPTURE(streams);
    check_all(streams, failed_run);
  }
}

TEST_CASE("a full standard error changes no status but that of a run with text to print") {
  constexpr int own_trouble = 125;
  check_all("</dev/null >out 2>/dev/full", own_trouble);
}

} // namespace standard_streams_test
