// hearth bundle: moves artifacts from one store to another.
#include "tests/support/hearth_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <cstdlib>
#include <doctest/doctest.h>

namespace bundle_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct two_machines {
  program_result hearth(const std::string& machine, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", store(machine)});
    return run_hearth(std::move(arguments), directory.path());
  }
  std::string store(const std::string& machine) const { return (directory / machine).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    write_text(directory / name, content);
    return (directory / name).string();
  }
  // Three entries in two caches.
  void fill(const std::string& machine) const {
    hearth(machine, {"insert", "one", file("one", "first"), "--cache", "graphs"});
    hearth(machine, {"insert", "two", file("two", std::string(5000, 'x')), "--cache", "graphs"});
    hearth(machine, {"insert", "three", file("three", "")});
  }

  temporary_directory directory;
  std::string bundle = (directory / "warm.bundle").string();
};

} // namespace

TEST_CASE_FIXTURE(two_machines, "a bundle makes another machine as warm") {
  fill("a");
  const auto exported = hearth("a", {"bundle", "export", bundle, "--json"});
  CHECK(exported.status == 0);
  CHECK(exported.json()["records"] == 3);
  CHECK(exported.json()["payload_bytes"] == 5005);
  const auto imported = hearth("b", {"bundle", "import", bundle});
  CHECK(imported.status == 0);
  CHECK(imported.out == "imported: 3 added, 0 existed, 4.9 KiB\n");
  CHECK(hearth("b", {"get", "one", "--cache", "graphs"}).out == "first");
  CHECK(hearth("b", {"get", "two", "--cache", "graphs"}).out == std::string(5000, 'x'));
  CHECK(hearth("b", {"get", "three"}).status == 0);
  const auto again = hearth("b", {"bundle", "import", bundle, "--json"}).json();
  CHECK(again["added"] == 0);
  CHECK(again["existed"] == 3);
}

TEST_CASE_FIXTURE(two_machines, "an import never replaces a stored entry") {
  fill("a");
  REQUIRE(hearth("a", {"bundle", "export", bundle}).status == 0);
  hearth("b", {"insert", "one", file("own", "its own"), "--cache", "graphs"});
  const auto imported = hearth("b", {"bundle", "import", bundle, "--json"}).json();
  CHECK(imported["added"] == 2);
  CHECK(imported["existed"] == 1);
  CHECK(hearth("b", {"get", "one", "--cache", "graphs"}).out == "its own");
}

TEST_CASE_FIXTURE(two_machines, "a cache or single keys are exported alone") {
  fill("a");
  const auto of_cache = hearth("a", {"bundle", "export", bundle, "--cache", "graphs", "--json"});
  CHECK(of_cache.json()["records"] == 2);
  const auto of_key = hearth("a", {"bundle", "export", bundle, "one", "--cache", "graphs"});
  CHECK(of_key.out == "exported: 1 entries, 5 B\n");
  check_error(hearth("a", {"bundle", "export", bundle, "one", "none", "--cache", "graphs"}), 1,
              "no entry \"none\" in cache 'graphs'; nothing was exported");
  const auto left = hearth("a", {"bundle", "list", bundle, "--json"}).json();
  CHECK(left["records"].size() == 1); // the earlier bundle, unchanged
  CHECK(left["records"][0]["key"] == "\"one\"");
}

TEST_CASE_FIXTURE(two_machines, "a bundle is listed without a store") {
  fill("a");
  REQUIRE(hearth("a", {"bundle", "export", bundle, "--cache", "default"}).status == 0);
  const auto listed = hearth("nowhere", {"bundle", "list", bundle});
  CHECK(listed.status == 0);
  const auto lines = lines_of(listed.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "entry  default  0            0  \"three\"");
  CHECK_FALSE(fs::exists(store("nowhere")));
}

TEST_CASE_FIXTURE(two_machines, "bundles go through pipes") {
  fill("a");
  const std::string program = HEARTH_PROGRAM;
  const auto pipe = program + " bundle export - --store " + store("a") + " | " + program +
                    " bundle import - --store " + store("b") + " > " +
                    (directory / "said").string();
  CHECK(std::system(pipe.c_str()) == 0);
  CHECK(file_text(directory / "said") == "imported: 3 added, 0 existed, 4.9 KiB\n");
  CHECK(hearth("b", {"get", "one", "--cache", "graphs"}).out == "first");
}

TEST_CASE_FIXTURE(two_machines, "a damaged bundle is bad input and nothing of it is imported") {
  fill("a");
  REQUIRE(hearth("a", {"bundle", "export", bundle}).status == 0);
  auto bytes = file_text(bundle);
  const auto cut = file("cut", bytes.substr(0, bytes.size() - 1));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  const auto flipped = file("flipped", bytes);
  for (const auto& damaged : {cut, flipped}) {
    check_error(hearth("b", {"bundle", "import", damaged}), 2, "the bundle is damaged");
    check_error(hearth("b", {"bundle", "list", damaged}), 2, "the bundle is damaged");
    CHECK(hearth("b", {"list", "--json"}).json().empty());
  }
  check_error(hearth("b", {"bundle", "import", file("text", "no bundle at all, but text\n")}), 2,
              "this is no bundle");
}

TEST_CASE_FIXTURE(two_machines, "with keys a bundle is taken only when one of them signed it") {
  fill("a");
  const auto ours = file("ours", "k1 " + std::string(64, 'a') + "\n");
  const auto theirs = file("theirs", "k1 " + std::string(64, 'b') + "\n");
  REQUIRE(hearth("a", {"bundle", "export", bundle, "--signing-keys", ours}).status == 0);
  const auto plain = (directory / "plain").string();
  REQUIRE(hearth("a", {"bundle", "export", plain}).status == 0);
  check_error(hearth("b", {"bundle", "import", plain, "--signing-keys", ours}), 2,
              "the bundle is not signed");
  check_error(hearth("b", {"bundle", "import", bundle, "--signing-keys", theirs}), 2,
              "signature is wrong");
  CHECK(hearth("b", {"list", "--json"}).json().empty());
  CHECK(hearth("b", {"bundle", "list", bundle, "--json"}).json()["signed_by"] == "k1");
  CHECK(hearth("b", {"bundle", "import", bundle, "--signing-keys", ours}).status == 0);
  CHECK(hearth("c", {"bundle", "import", bundle}).status == 0); // unsigned is enough
}

TEST_CASE_FIXTURE(two_machines, "bad usage of bundles is said in one line") {
  check_error(hearth("a", {"bundle", "export", bundle}), 3, "there is no store");
  check_error(hearth("a", {"bundle", "import", (directory / "none").string()}), 2, "cannot open");
  check_error(hearth("a", {"bundle", "import", directory.path().string()}), 2, "is a directory");
  check_error(hearth("a", {"bundle", "export", bundle, "--cache", "../x"}), 2, "cache");
  CHECK(hearth("a", {"bundle"}).status == 2);
  CHECK(hearth("a", {"bundle", "export"}).status == 2);
  fill("a");
  check_error(hearth("a", {"bundle", "export", "/proc/none/warm.bundle"}), 2, "cannot write");
  check_error(hearth("a", {"bundle", "export", "/dev/full"}), 3, "No space left");
  check_error(hearth("a", {"bundle", "export", bundle, "--signing-keys", file("no_key", "")}), 2,
              "no signing key");
}

TEST_CASE_FIXTURE(two_machines, "a damaged entry is left out of a bundle and reported") {
  const auto one = file("one", std::string(20'000, 'o'));
  hearth("a", {"insert", "one", one});
  hearth("a", {"insert", "two", file("two", "whole")});
  for (const auto& entry : fs::recursive_directory_iterator(store("a")))
    if (entry.path().extension() == ".seg") {
      auto bytes = file_text(entry.path());
      const auto at = bytes.find("ooooooooo");
      if (at == std::string::npos) continue;
      bytes[at] = 'x';
      write_text(entry.path(), bytes);
    }
  const auto exported = hearth("a", {"bundle", "export", bundle, "--json"});
  CHECK(exported.status == 0);
  CHECK(exported.json()["records"] == 1);
  CHECK(exported.json()["damaged"] == 1);
  CHECK(exported.err == "hearth: 1 damaged entries were left out; see 'hearth verify'\n");
}

} // namespace bundle_test
