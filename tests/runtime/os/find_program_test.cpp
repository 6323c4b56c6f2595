#include "runtime/os/find_program.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

namespace find_program_test {

using namespace hearth;
using namespace hearth::os;

TEST_CASE("a program is found as a shell would find it") {
  test::temporary_directory folder;
  std::filesystem::create_directories(folder / "bin/tool-folder");
  test::write_text(folder / "bin/tool", "#!/bin/sh\n");
  std::filesystem::permissions(folder / "bin/tool", std::filesystem::perms::owner_all);
  const auto bin = (folder / "bin").string();
  const auto tool = (folder / "bin/tool").string();
  CHECK(find_program("tool", "/nowhere:" + bin, "").value() == tool);
  CHECK(find_program("tool", "bin", folder.path()).value() == tool);
  CHECK(find_program("tool", "", bin).value() == tool);
  CHECK(find_program("tool", "/nowhere:", bin).value() == tool);
  CHECK(find_program("bin/tool", "/nowhere", folder.path()).value() == tool);
  CHECK(find_program(tool, "", "/").value() == tool);
  CHECK(find_program("sh", search_path(), "").has_value());
  const auto missing = find_program("tool", "/nowhere", bin);
  CHECK(missing.error().code() == errc::program_not_found);
  CHECK(missing.error().text() ==
        "cannot run tool: it is not in PATH (/nowhere); install it or name its path");
  const auto is_folder = find_program("tool-folder", bin, "");
  CHECK(is_folder.error().code() == errc::program_refused);
  CHECK(is_folder.error().text() ==
        "cannot run tool-folder: " + bin + "/tool-folder: Is a directory");
}

TEST_CASE("without PATH programs are found where a shell finds them") {
  const char* const before = std::getenv("PATH");
  const std::string kept = before ? before : "";
  ::unsetenv("PATH");
  const std::string without(search_path());
  const auto shell = find_program("sh", search_path(), "/");
  ::setenv("PATH", "", 1);
  const std::string when_empty(search_path());
  ::setenv("PATH", "/nowhere", 1);
  const std::string when_set(search_path());
  before ? ::setenv("PATH", kept.c_str(), 1) : ::unsetenv("PATH");
  CHECK(without == "/usr/local/bin:/usr/bin:/bin");
  REQUIRE(shell);
  CHECK(shell->ends_with("bin/sh"));
  CHECK(when_empty.empty()); // an empty entry means the working directory
  CHECK(when_set == "/nowhere");
}

TEST_CASE("a program that is named by its path is missing, or may not be executed") {
  test::temporary_directory folder;
  test::write_text(folder / "text", "no program\n");
  const auto text = (folder / "text").string();
  CHECK(find_program("./gone", "", folder.path()).error().code() == errc::program_not_found);
  CHECK(find_program("text/under", "", folder.path()).error().code() == errc::program_not_found);
  CHECK(find_program(text, "", "").error().code() == errc::program_refused);
  CHECK(!is_program(text));
  CHECK(!is_program(folder.path()));
  CHECK(is_program("/bin/sh"));
}

} // namespace find_program_test
