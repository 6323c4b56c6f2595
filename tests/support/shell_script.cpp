#include "tests/support/shell_script.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sys/wait.h>

namespace hearth::test {

program_result run_script(const std::string& script) {
  const temporary_directory scratch;
  std::ofstream(scratch / "script") << "set -euo pipefail\n" << script;
  const auto line = "timeout 240 bash '" + (scratch / "script").string() + "' > '" +
                    (scratch / "out").string() + "' 2> '" + (scratch / "err").string() +
                    "' < /dev/null";
  const int ended = std::system(line.c_str()); // NOLINT: a test
  return {WEXITSTATUS(ended), file_text(scratch / "out"), file_text(scratch / "err")};
}

std::string output_of(const std::string& script) {
  const auto result = run_script(script);
  CHECK_MESSAGE(result.status == 0, script, "\n", result.out, "\n", result.err);
  return result.out;
}

} // namespace hearth::test
