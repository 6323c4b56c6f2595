#include "runtime/caches/facts/compiler_identity.hpp"

#include "runtime/caches/actions/action_cache.hpp"
#include "runtime/fingerprints/toolchain/toolchain_key.hpp"
#include "tests/support/runtimes.hpp"

#include <doctest/doctest.h>

namespace compiler_identity_test {

using namespace hearth;
using namespace hearth::test;

TEST_CASE_FIXTURE(on_disk, "a host and an action have one identity of a compiler") {
  runtime rt(settings());
  const auto compiler = identify_compiler(rt, "g++", {}, directory.path());
  REQUIRE_MESSAGE(compiler, compiler.error().text());
  CHECK(compiler->version.find("g++") != std::string::npos);
  CHECK(compiler->target.find("linux") != std::string::npos);
  const auto& details = *compiler->details.as<key_field::map>();
  const auto& files = *details.at("files").as<key_field::map>();
  for (const auto* role : {"driver", "front end", "as", "collect2", "ld"})
    CHECK_MESSAGE(files.contains(role), role);

  action asked({"g++", "-c", "a.cpp", "-o", "a.o"});
  asked.directory = directory.path();
  const auto key = action_cache::open(rt)->key_of(asked);
  REQUIRE_MESSAGE(key, key.error().text());
  const auto& program = *key->details.as<key_field::map>()->at("program").as<key_field::map>();
  CHECK(program.at("toolchain") == key_field(compiler->identity.hex()));
}

TEST_CASE_FIXTURE(on_disk, "a compiler's identity is a part of a toolchain's key") {
  runtime rt(settings());
  fingerprints::toolchain_parts parts;
  parts.version = "1";
  const auto without = fingerprints::toolchain_key(parts).get();
  parts.identities = {{"g++", identify_compiler(rt, "g++")->identity}};
  const auto with = fingerprints::toolchain_key(parts).get();
  CHECK(*with != *without);
  parts.identities = {{"g++", identify_compiler(rt, "g++", {"-march=native"})->identity}};
  CHECK(*fingerprints::toolchain_key(parts).get() != *with);
}

TEST_CASE_FIXTURE(on_disk, "what is no compiler has no identity") {
  runtime rt(settings());
  CHECK(identify_compiler(rt, "no-such-compiler").error().code() == errc::program_not_found);
  CHECK(identify_compiler(rt, "true").error().code() == errc::unsupported);
  CHECK(identify_compiler(rt, "g++", {"-c"}).error().code() == errc::invalid_argument);
}

} // namespace compiler_identity_test
