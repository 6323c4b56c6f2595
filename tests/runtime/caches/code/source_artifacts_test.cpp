// Sources by their hash: written to files, and purged.
#include "runtime/caches/code/source_artifacts.hpp"
#include "runtime/fingerprints/code_files.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

namespace source_artifacts_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct sources : on_disk {
  sources()
      : rt(settings())
      , all(*rt.open("code"), directory / "code", "py") {}

  runtime rt;
  source_artifacts all;
};

} // namespace

TEST_CASE_FIXTURE(sources, "a source is kept by its hash and written as a file") {
  const auto kept = all.save("print(1)\n");
  REQUIRE(kept);
  CHECK(kept->hash == fingerprints::code_hash("print(1)\n"));
  CHECK(kept->path == directory / "code" / kept->hash.substr(1, 2) / (kept->hash + ".py"));
  CHECK(file_text(kept->path) == "print(1)\n");
  CHECK((*all.load(kept->hash))->payload() == "print(1)\n");
  CHECK(all.save("print(1)\n")->hash == kept->hash);
  CHECK(all.save("print(1)\n", "extra")->hash != kept->hash);
  CHECK_FALSE(*all.load("cnone"));
}

TEST_CASE_FIXTURE(sources, "a file that was changed or removed is written again") {
  const auto kept = *all.save("print(1)\n");
  write_text(kept.path, "print(2) # longer than it was");
  CHECK((*all.load(kept.hash))->payload() == "print(1)\n"); // the stored source, not the file
  CHECK(*all.write_file(kept.hash) == kept.path);
  CHECK(file_text(kept.path) == "print(1)\n");
  fs::remove(kept.path);
  REQUIRE(all.write_file(kept.hash));
  CHECK(file_text(kept.path) == "print(1)\n");
  CHECK(all.write_file("cnone").error().code() == errc::not_found);
  CHECK(all.write_file("../../x").error().code() == errc::invalid_argument);
}

TEST_CASE_FIXTURE(sources, "purge drops the source and its file") {
  const auto kept = *all.save("print(1)\n");
  CHECK(*all.purge(kept.hash));
  CHECK_FALSE(fs::exists(kept.path));
  CHECK_FALSE(*all.load(kept.hash));
  CHECK_FALSE(*all.purge(kept.hash));
}

TEST_CASE_FIXTURE(sources, "purge of all drops the sources of this object and nothing else") {
  const source_artifacts others(*rt.open("code"), directory / "code", "py");
  const auto theirs = *others.save("print(0)\n");
  const auto one = *all.save("print(1)\n");
  const auto two = *all.save("print(2)\n");
  CHECK(*all.purge_all() == 2);
  CHECK_FALSE(fs::exists(one.path));
  CHECK_FALSE(fs::exists(two.path));
  CHECK(file_text(theirs.path) == "print(0)\n");
  CHECK(*all.purge_all() == 0);
}

} // namespace source_artifacts_test
