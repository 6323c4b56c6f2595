// From targets of real clients to routes and keys.
#include "runtime/server/http/message/http_routes.hpp"

#include "runtime/server/entries/http_keys.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace http_routes_test {

using namespace hearth::server;

namespace {

const std::string digest = std::string(63, '0') + "a";
const std::string ccache_digits = "0123456789abcdef0123456789abcdef01234567";
// As ccache's bazel layout makes it.
const std::string repeated = ccache_digits + ccache_digits.substr(0, 24);

route_kind kind_of(const std::string& target) { return route_of(target).kind; }

} // namespace

TEST_CASE("pages are at the root alone") {
  CHECK(kind_of("/") == route_kind::status_page);
  CHECK(kind_of("/metrics") == route_kind::metrics);
  CHECK(kind_of("/metrics?x=1") == route_kind::metrics);
  CHECK(kind_of("/healthz") == route_kind::liveness);
  CHECK(kind_of("/livez") == route_kind::liveness);
  CHECK(kind_of("/readyz") == route_kind::readiness);
  CHECK(kind_of("/status.json") == route_kind::status_json);
  CHECK(kind_of("/p/metrics") == route_kind::entry);
  CHECK(kind_of("//") == route_kind::entry);
  CHECK_FALSE(route_of("/metrics").has_entry());
}

TEST_CASE("Bazel's results and blobs have any prefix in front") {
  for (const std::string prefix : {"", "/p", "/a/b", "/ac", "/v8/artifacts"}) {
    CHECK(kind_of(prefix + "/ac/" + digest) == route_kind::action_result);
    CHECK(kind_of(prefix + "/cas/" + digest) == route_kind::blob);
  }
  CHECK(route_of("/p/cas/" + digest).blob_digest == digest);
}

TEST_CASE("what only looks like a digest is a path") {
  CHECK(kind_of("/cas/" + digest + "0") == route_kind::entry);
  CHECK(kind_of("/cas/" + digest.substr(1)) == route_kind::entry);
  CHECK(kind_of("/cas/" + std::string(64, 'A')) == route_kind::entry);
  CHECK(kind_of("/cas/" + std::string(64, 'g')) == route_kind::entry);
  CHECK(kind_of("/xcas/" + digest) == route_kind::entry);
  CHECK(kind_of("/cas/" + digest + "/x") == route_kind::entry);
  CHECK(kind_of("/ac/" + digest + "/") == route_kind::entry);
}

TEST_CASE("blobs are shared by all prefixes, results are not") {
  CHECK(route_of("/cas/" + digest).key == route_of("/p/cas/" + digest).key);
  CHECK(route_of("/cas/" + digest).key == blob_key(digest));
  CHECK(route_of("/ac/" + digest).key != route_of("/p/ac/" + digest).key);
}

TEST_CASE("Turbo's team is part of the key") {
  const auto key = [](const std::string& query) {
    const auto route = route_of("/v8/artifacts/0123456789abcdef" + query);
    CHECK(route.kind == route_kind::turbo_artifact);
    return route.key;
  };
  const std::set<std::string> keys{
      key(""),          key("?slug=a"),          key("?slug=b"),    key("?slug="),
      key("?teamId=a"), key("?teamId=a&slug=b"), key("?slug=a%3F"), key("?teamId=a?slug=b")};
  CHECK(keys.size() == 8);
  CHECK(key("?slug=b&teamId=a") == key("?teamId=a&slug=b"));
  CHECK(kind_of("/v8/artifacts/events") == route_kind::turbo_events);
  CHECK(kind_of("/p/v8/artifacts/status?slug=x") == route_kind::turbo_status);
  CHECK(kind_of("/v8/artifacts/") == route_kind::entry);
}

TEST_CASE("Nx has decimal names") {
  CHECK(kind_of("/v1/cache/12345678901234567890") == route_kind::nx_artifact);
  CHECK(kind_of("/v1/cache/12a") == route_kind::entry);
  CHECK(kind_of("/v1/cache/") == route_kind::entry);
}

TEST_CASE("no two targets share a key") {
  const std::set<std::string> keys{route_of("/a").key,
                                   route_of("//a").key,
                                   route_of("/a/").key,
                                   route_of("/b/../a").key,
                                   route_of("/./a").key,
                                   route_of("/%61").key,
                                   route_of("/a?").key,
                                   route_of("/a?x").key,
                                   route_of("/A").key,
                                   route_of("/ac/" + digest).key,
                                   route_of("/ac/" + digest + "?x").key,
                                   route_of("/cas/" + digest).key,
                                   route_of("/v1/cache/1").key,
                                   route_of("/v1/cache/1?x").key,
                                   route_of("/cas:" + digest).key};
  CHECK(keys.size() == 15);
  for (const auto& key : keys)
    CHECK(is_http_key(key));
  CHECK(is_http_key(route_of("/v8/artifacts/0123456789abcdef").key));
  for (const auto* other : {"http:", "http://cache.example/cas/x", "http:cas", "cas:x", ""})
    CHECK_FALSE(is_http_key(other));
}

TEST_CASE("a miss can be held where clients store on the connection that missed") {
  CHECK(route_of("/ab/cdef").can_hold);
  CHECK(route_of("/p/ac/" + repeated).can_hold);     // ccache
  CHECK_FALSE(route_of("/p/ac/" + digest).can_hold); // Bazel
  CHECK_FALSE(route_of("/cas/" + digest).can_hold);
  CHECK_FALSE(route_of("/v8/artifacts/0123456789abcdef").can_hold);
  CHECK_FALSE(route_of("/v1/cache/1").can_hold);
}

TEST_CASE("each route has its methods") {
  CHECK(allows(route_of("/a"), "PUT"));
  CHECK(allows(route_of("/a"), "MKCOL"));
  CHECK(allows(route_of("/a"), "OPTIONS"));
  CHECK_FALSE(allows(route_of("/a"), "POST"));
  CHECK_FALSE(allows(route_of("/a"), "PROP"));
  CHECK_FALSE(allows(route_of("/a"), ""));
  CHECK_FALSE(allows(route_of("/cas/" + digest), "PROPFIND"));
  CHECK_FALSE(allows(route_of("/v1/cache/1"), "DELETE"));
  CHECK(allows(route_of("/v8/artifacts/events"), "POST"));
  CHECK_FALSE(allows(route_of("/v8/artifacts/events"), "GET"));
  CHECK_FALSE(allows(route_of("/metrics"), "PUT"));
  CHECK(allows(route_of("/"), "PROPFIND"));
}

TEST_CASE("only what shows nothing stored is open to all") {
  CHECK(route_of("/healthz").is_open());
  CHECK(route_of("/readyz").is_open());
  CHECK(route_of("/").is_open());
  CHECK_FALSE(route_of("/metrics").is_open());
  CHECK_FALSE(route_of("/status.json").is_open());
  CHECK_FALSE(route_of("/a").is_open());
}

} // namespace http_routes_test
