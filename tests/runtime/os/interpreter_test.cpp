#include "runtime/os/interpreter.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <string>

namespace interpreter_test {

using namespace hearth;

namespace {

struct program_file {
  test::temporary_directory directory;
  std::string interpreter_of(const std::string& content) const {
    test::write_text(directory / "program", content);
    return os::interpreter_of((directory / "program").string());
  }
};

// The header of a binary with `parts` program headers at `place`.
std::string header(std::uint64_t place, std::uint16_t parts) {
  std::string bytes(64, '\0');
  bytes.replace(0, 4,
                "\x7f"
                "ELF");
  std::memcpy(bytes.data() + 32, &place, sizeof place);
  const std::uint16_t size = 56;
  std::memcpy(bytes.data() + 54, &size, sizeof size);
  std::memcpy(bytes.data() + 56, &parts, sizeof parts);
  return bytes;
}

std::string loader_header(std::uint64_t place) {
  std::string bytes(56, '\0');
  bytes[0] = 3; // PT_INTERP
  std::memcpy(bytes.data() + 8, &place, sizeof place);
  return bytes;
}

} // namespace

TEST_CASE_FIXTURE(program_file, "interpreter: of scripts") {
  CHECK(interpreter_of("#!/bin/sh\n") == "/bin/sh");
  CHECK(interpreter_of("#! \t/usr/bin/env -S x\n") == "/usr/bin/env");
  CHECK(interpreter_of("#!tools/gen") == "tools/gen");
  CHECK(interpreter_of(std::string("#!/a\0b\n", 8)) == "/a");
  CHECK(interpreter_of("#!\n") == "");
  CHECK(interpreter_of("#!") == "");
  CHECK(interpreter_of("echo") == "");
  CHECK(interpreter_of("") == "");
  CHECK(os::interpreter_of("/does/not/exist") == "");
  CHECK(os::interpreter_of("/") == "");
}

TEST_CASE_FIXTURE(program_file, "interpreter: of binaries") {
  CHECK(os::interpreter_of("/bin/sh").find("ld-linux") != std::string::npos);
  CHECK(interpreter_of(header(64, 1) + loader_header(120) + std::string("/loader\0x", 9)) ==
        "/loader");
  const std::string far(8000, '\0'); // both parts lie behind the first page
  CHECK(interpreter_of(header(8064, 1) + far + loader_header(8120) + "/loader") == "/loader");
  for (const std::uint64_t place : {0ULL, 60ULL, 64ULL, 5000ULL, ~0ULL, ~0ULL - 55})
    for (const std::uint16_t parts : {0, 1, 0xffff})
      CHECK(interpreter_of(header(place, parts)) == "");
  CHECK(interpreter_of(header(64, 1) + loader_header(~0ULL)) == "");
}

} // namespace interpreter_test
