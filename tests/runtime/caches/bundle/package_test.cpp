// Ahead-of-time packages: objects, weights and metadata in one bundle.
#include "runtime/caches/bundle/bundle.hpp"
#include "runtime/caches/bundle/package.hpp"
#include "runtime/handle/runtime.hpp"
#include "tests/support/files.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

namespace package_test {

using namespace hearth;
using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

struct packages : on_disk {
  static package model() {
    return {"model",
            value::map{{"platform", "linux"}, {"isa", "avx512"}},
            {{member_kind::object, "lib/model.so", artifact::make("machine code")},
             {member_kind::weights, "weights.bin", artifact::make(std::string(3u << 20, 'w'))},
             {member_kind::file, "empty", artifact::make("")}}};
  }
  std::string file = (directory / "model.bundle").string();
};

bool same(const package& a, const package& b) {
  return a.name == b.name && a.metadata == b.metadata &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                    [](const auto& x, const auto& y) {
                      return x.kind == y.kind && x.name == y.name &&
                             same_bytes(x.content, y.content);
                    });
}

} // namespace

TEST_CASE_FIXTURE(packages,
                  "a package is one bundle with all of its objects weights and metadata") {
  REQUIRE(write_package(model(), file));
  const auto read_back = read_package(file);
  REQUIRE(read_back);
  CHECK(same(*read_back, model()));
  std::size_t records = 0;
  REQUIRE(list_bundle(file, [&](const auto& head) { records += head.cache == "packages"; }));
  CHECK(records == 4);
}

TEST_CASE_FIXTURE(packages, "a package is materialized whole") {
  const auto folder = materialize_package(model(), directory / "run");
  REQUIRE(folder);
  CHECK(file_text(*folder / "lib/model.so") == "machine code");
  CHECK(file_text(*folder / "weights.bin").size() == 3u << 20);
  CHECK((fs::status(*folder / "lib/model.so").permissions() & fs::perms::owner_exec) !=
        fs::perms::none);
  CHECK(materialize_package(model(), directory / "run"));
}

TEST_CASE_FIXTURE(packages, "an imported package is found by its name") {
  REQUIRE(write_package(model(), file));
  runtime rt(settings());
  CHECK_FALSE(*find_package(rt, "model"));
  REQUIRE(import_bundle(rt, file));
  const auto found = find_package(rt, "model");
  REQUIRE(found);
  REQUIRE(*found);
  CHECK(same(**found, model()));
  REQUIRE(rt.open("packages")->erase(key::tuple({"model", "weights", "weights.bin"})));
  CHECK_FALSE(*find_package(rt, "model"));
}

TEST_CASE_FIXTURE(packages, "a damaged bundle or one of another kind is no package") {
  REQUIRE(write_package(model(), file));
  fs::resize_file(file, fs::file_size(file) - 1);
  CHECK(read_package(file).error().code() == errc::malformed);
  REQUIRE(write_bundle({}, file));
  CHECK(read_package(file).error().text().find("the bundle is no package") != std::string::npos);
}

TEST_CASE_FIXTURE(packages, "a package without a signature of our keys is refused") {
  const storage::signing_keys ours{{"k", std::string(32, 'a')}};
  const storage::signing_keys theirs{{"k", std::string(32, 'b')}};
  REQUIRE(write_package(model(), file, ours));
  CHECK(read_package(file, ours));
  CHECK_FALSE(read_package(file, theirs));
}

TEST_CASE_FIXTURE(packages,
                  "a member that leads out of the folder, comes twice or is missing is refused") {
  for (const auto& bad : {package_member{member_kind::file, "../x", artifact::make("x")},
                          package_member{member_kind::file, "weights.bin", artifact::make("x")},
                          package_member{member_kind::file, "nothing", {}}}) {
    auto broken = model();
    broken.members.push_back(bad);
    CHECK(write_package(broken, file).error().code() == errc::invalid_argument);
    CHECK(materialize_package(broken, directory / "run").error().code() == errc::invalid_argument);
  }
  CHECK_FALSE(fs::exists(file));
  CHECK_FALSE(fs::exists(directory / "run"));
}

} // namespace package_test
