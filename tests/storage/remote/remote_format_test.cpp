// docs/remote-format.md is complete: a reader written from that page alone opens what Hearth seals,
// and finds the same bytes.
#include "messages/digest.hpp"
#include "storage/remote/entry_names.hpp"
#include "tests/storage/remote/remote_keys.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdio>
#include <doctest/doctest.h>
#include <fstream>

namespace remote_format_test {

using namespace hearth;
using namespace hearth::storage;
using namespace hearth::test;

namespace {

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char part[4096];
  for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, pipe)) > 0;)
    text.append(part, got);
  ::pclose(pipe);
  return text;
}

} // namespace

TEST_CASE("envelope: a reader written from the format's page opens sealed entries") {
  const temporary_directory directory;
  const auto file = directory / "envelope";
  const auto metadata = encode(value{value::map{{"guard", "s0 > 1"}}});
  for (const bool sign : {false, true})
    for (const auto& payload : {std::string("short"), std::string(70000, 'a')}) {
      const auto key = key_in("graphs", "k", sign, "v2");
      std::ofstream(file, std::ios::binary)
          << seal_envelope(key, artifact::make(payload, metadata), two_keys());
      auto command = "python3 " HEARTH_SOURCE_DIR "/tests/support/envelope_reader.py " +
                     file.string() + " graphs v2 " + hex(key.bytes);
      if (sign) command += " new " + hex(two_keys()[0].secret);
      const auto expected = "{\"name\": \"" + remote_entry_name({}, key) +
                            "\", \"coding\": " + std::string(payload.size() > 128 ? "1" : "0") +
                            ", \"metadata\": \"" + hex(metadata) + "\", \"payload\": \"" +
                            hex(payload) + "\"" + (sign ? ", \"signed_by\": \"new\"}\n" : "}\n");
      CHECK(output_of(command) == expected);
    }
}

} // namespace remote_format_test
