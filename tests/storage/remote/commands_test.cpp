// Commands of the remote tier.
#include "storage/remote/commands.hpp"

#include <doctest/doctest.h>

namespace commands_test {

using namespace hearth::storage;
using namespace std::chrono_literals;

TEST_CASE("remote commands: SET has the option for a new entry only, and its lifetime") {
  CHECK(set_command("n", "v", false, 0ms) == remote_command{"SET", "n", "v"});
  CHECK(set_command("n", "v", true, 0ms) == remote_command{"SET", "n", "v", "NX"});
  CHECK(set_command("n", "v", true, 1500ms) == remote_command{"SET", "n", "v", "NX", "PX", "1500"});
}

TEST_CASE("remote commands: fields are added to a hash, with its lifetime in the same step") {
  CHECK(get_fields_command("n") == remote_command{"HGETALL", "n"});
  CHECK(remove_fields_command("n", {"a", "b"}) == remote_command{"HDEL", "n", "a", "b"});
  CHECK(add_fields_command("n", {{"a", "1"}, {"b", "2"}}, 0ms) ==
        remote_command{"HSET", "n", "a", "1", "b", "2"});
  const auto with_ttl = add_fields_command("n", {{"a", "1"}}, 1500ms);
  REQUIRE(with_ttl.size() == 7);
  CHECK(with_ttl[0] == "EVAL");
  CHECK(remote_command(with_ttl.begin() + 2, with_ttl.end()) ==
        remote_command{"1", "n", "1500", "a", "1"});
}

TEST_CASE("remote commands: a value that is moved in is not copied") {
  std::string name(100, 'n');
  std::string payload(1u << 20, 'v');
  const auto* const name_at = name.data();
  const auto* const payload_at = payload.data();
  const auto set = set_command(std::move(name), std::move(payload), true, 1h);
  REQUIRE(set.size() == 6);
  CHECK(set[1].data() == name_at);
  CHECK(set[2].data() == payload_at);

  std::string asked(100, 'n');
  const auto* const asked_at = asked.data();
  CHECK(get_command(std::move(asked))[1].data() == asked_at);
}

TEST_CASE("remote commands: a lease is taken, renewed and given back by its token") {
  CHECK(lease_command("l", "t", 30s) == remote_command{"SET", "l", "t", "NX", "PX", "30000"});
  const auto renewed = renew_command("l", "t", 30s);
  REQUIRE(renewed.size() == 6);
  CHECK(renewed[0] == "EVAL");
  CHECK(renewed[2] == "1");
  CHECK(renewed[3] == "l");
  CHECK(renewed[4] == "t");
  CHECK(renewed[5] == "30000");
  const auto released = release_command("l", "t");
  REQUIRE(released.size() == 5);
  CHECK(released[3] == "l");
  CHECK(released[4] == "t");
}

} // namespace commands_test
