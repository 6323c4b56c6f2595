// Programs with little of what a system gives: each command ends with a status and says why in one
// line, and the store stays intact.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <string>
#include <sys/wait.h>

namespace limits_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

// What a command of the shell comes to.
struct shell_result {
  int status = 0; // or minus the signal that ended it
  std::string out;
};

shell_result shell(const fs::path& folder, const std::string& line) {
  const auto out = folder / "shell.out";
  const auto all = "HEARTH='" HEARTH_PROGRAM " --store S'; cd '" + folder.string() + "'; { " +
                   line + "; } 2>&1 | cat >'" + out.string() + "'";
  const int ended = std::system(("exec bash -o pipefail -c \"" + all + "\"").c_str());
  return {WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended), file_text(out)};
}

} // namespace

TEST_CASE("a file past its size limit is an error of the store, not the end by a signal") {
  const temporary_directory directory;
  write_text(directory / "file", "one value");
  const auto in = [&](const std::string& line) { return shell(directory.path(), line); };
  const auto new_store = in("ulimit -f 0; \\$HEARTH put k file");
  CHECK(new_store.status == 3);
  CHECK_MESSAGE(new_store.out.find("ulimit -f") != std::string::npos, new_store.out);
  CHECK(in("\\$HEARTH put k file").status == 0);
  const auto full = in("ulimit -f 0; \\$HEARTH put k file");
  CHECK(full.status == 3);
  CHECK(lines_of(full.out).size() == 1);
  CHECK(in("ulimit -f 0; \\$HEARTH get k").out == "one value");
  CHECK(in("ulimit -f 0; \\$HEARTH run -- true").status == 125);
  CHECK(in("\\$HEARTH verify").status == 0);
}

TEST_CASE("a command that run starts has the default of every signal") {
  const temporary_directory directory;
  const auto ran = shell(directory.path(), "\\$HEARTH run -- grep SigIgn /proc/self/status");
  CHECK(ran.out == "SigIgn:\t0000000000000000\n");
}

} // namespace limits_test
