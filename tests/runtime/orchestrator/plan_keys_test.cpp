#include "runtime/orchestrator/plan_keys.hpp"

#include <doctest/doctest.h>

namespace plan_keys_test {

using namespace hearth;
using namespace hearth::orchestrator;

TEST_CASE("another machine, or another GPU of it, is another key of a plan") {
  const fingerprints::toolchain compiler;
  const auto key_on = [&](const fingerprints::machine& host) {
    return key_digest(shared_details(compiler, host)).hex();
  };
  fingerprints::machine host = fingerprints::this_machine();
  host.gpus = {};
  const auto without = key_on(host);
  CHECK(key_on(host) == without);
  host.gpus.driver = "nvidia NVRM version 550.54";
  host.gpus.models = {"NVIDIA H100"};
  const auto with = key_on(host);
  CHECK(with != without);
  host.gpus.driver = "nvidia NVRM version 560.28";
  const auto other_driver = key_on(host);
  CHECK(other_driver != with);
  host.gpus.models = {"NVIDIA H200"};
  CHECK(key_on(host) != other_driver);
  host.gpus = {};
  host.system += " 2";
  CHECK(key_on(host) != without);
}

} // namespace plan_keys_test
