// Expected values: Python's hashlib, with the derivations of PyTorch 2.7's autotune_cache.py.
#include "messages/autotune/names.hpp"

#include "messages/autotune/comments.hpp"

#include <doctest/doctest.h>

namespace names_test {

using namespace hearth;

namespace {
const tuning_scope scope{sha256("torch"), "backend", "tag7"};
} // namespace

TEST_CASE("a prepared key is the SHA-256 of basename and tag") {
  const auto expected = "08365e803c749132de8278709c01073603a216db22ae49d30e8c26d3f6f34c41";
  CHECK(prepared_key("/tmp/x/ab/cabc.py", "tag7") == expected);
  CHECK(prepared_key("cabc.py", "tag7") == expected);
  CHECK(prepared_key("cabc.py", "") ==
        "5b4f75fbe560a52679b9d4b3d446413b76b11f262838d74650e61e015af916ae");
}

TEST_CASE("a local name holds the toolchain, a remote id toolchain, backend and configurations") {
  CHECK(local_name(prepared_key("cabc.py", "tag7"), scope.toolchain) ==
        "f8d61a116521893c14cf615ef297980e18857d65724cbdf780d3b5d6f2bf0064.best_config");
  CHECK(remote_id(scope, "configs") ==
        "7bb344bb27b8dadaa63928823cc007d8288d33124da2c9adf190e4b76617e0a0");
  CHECK(local_name(prepared_key("cabc.py", "tag7"), sha256("torch 2")) !=
        local_name(prepared_key("cabc.py", "tag7"), scope.toolchain));
}

TEST_CASE("a bundle's key holds the code without comments, and the backend") {
  const auto code = comment_stripped_hash("import x  # run 17\n", comment_syntax::hash);
  CHECK(code == "cstwrm5ol2oeie7wyvsuaa26ofj4xvopo73rwyy2rqirvandigqo");
  CHECK(bundle_key(code, "backend") ==
        "dbf4f36543389025db5ae3aae6c8fb730c0133aa1abaf79cd2b21e189cc981ae");
}

} // namespace names_test
