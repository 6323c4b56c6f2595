// The users of the server: the file, and the hashes in it.
#include "runtime/server/access/users_file.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>

namespace users_file_test {

using namespace hearth;
using namespace hearth::server;

namespace {

namespace fs = std::filesystem;

// RFC 7914, section 12: the third test vector.
constexpr std::string_view known_hash =
    "scrypt$14$8$1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUk"
    "Kpr55h6F3A1lHkDfzwF7RVdYhw";
constexpr std::string_view known_tail =
    "$MDEyMzQ1Njc4OWFiY2RlZg$SVuM0KSexiHimepMIq8EAUTo2etmecfCLZSlwiAM8gU";

expected<user_list> parsed(const std::string& text) { return parse_users(text, "/etc/users.toml"); }

std::string fault(const std::string& text) {
  const auto users = parsed(text);
  if (users) return "no error";
  CHECK(users.error().code() == errc::malformed);
  return users.error().text();
}

std::string password_line(std::string_view hash) {
  return "[users.ci]\npassword = \"" + std::string(hash) + "\"\n";
}

} // namespace

TEST_CASE("a user has the members that the file gives, and the least rights without them") {
  const auto users =
      parsed("[users.ci]\nrole = \"writer\"\npassword = \"" + std::string(known_hash) +
             "\"\ntoken = \"" + hash_token("t") +
             "\"\nnamespace = \"pull-requests\"\nhold_misses = true\nrefused_writes = \"ignore\"\n"
             "[users.boss]\nrole = \"admin\"\nhold_misses = false\n[users.x]\n");
  REQUIRE(users);
  REQUIRE(users->size() == 3);
  const auto& ci = (*users)[0];
  CHECK(ci.who.user == "ci");
  CHECK(ci.who.role == user_role::writer);
  CHECK(ci.password_hash == known_hash);
  CHECK(ci.token_hash == hash_token("t"));
  CHECK(ci.who.name_space == "pull-requests");
  CHECK(ci.who.hold_misses == true);
  CHECK(ci.who.refused == refused_writes::ignore);
  CHECK((*users)[1].who.role == user_role::admin);
  CHECK((*users)[1].who.hold_misses == false);
  const auto& x = (*users)[2];
  CHECK(x.who.role == user_role::reader);
  CHECK(x.password_hash.empty());
  CHECK(x.token_hash.empty());
  CHECK(x.who.name_space.empty());
  CHECK_FALSE(x.who.hold_misses.has_value());
  CHECK(x.who.refused == refused_writes::error);
}

TEST_CASE("a file without users has none") {
  CHECK(parsed("").value().empty());
  CHECK(parsed("[users]\n").value().empty());
}

TEST_CASE("roles contain the ones before them, and have names") {
  const auto with = [](user_role role) {
    identity who;
    who.role = role;
    return who;
  };
  CHECK_FALSE(with(user_role::reader).may_write());
  CHECK(with(user_role::writer).may_write());
  CHECK_FALSE(with(user_role::writer).may_manage());
  CHECK(with(user_role::admin).may_manage());
  CHECK(to_string(user_role::reader) == "reader");
  CHECK(to_string(user_role::writer) == "writer");
  CHECK(to_string(user_role::admin) == "admin");
}

TEST_CASE("a mistake in the users file is one line with file, line and member") {
  CHECK(fault("[users.ci]\nrol = \"writer\"\n") ==
        "/etc/users.toml:2: users.ci.rol: is unknown; is 'role' meant?");
  CHECK(
      fault("[users.ci]\nrole = \"wirter\"\n") ==
      "/etc/users.toml:2: users.ci.role: 'wirter' is unknown; write one of reader, writer, admin");
  CHECK(fault("[users.ci]\nrole = 3\n").find(":2: users.ci.role: has to be a text") !=
        std::string::npos);
  CHECK(fault("\n[user.ci]\n") == "/etc/users.toml:2: user: is unknown; is 'users' meant?");
  CHECK(fault("users = 3\n") == "/etc/users.toml:1: users: has to be a table; write [users.NAME]");
  CHECK(fault("[users]\nci = 3\n") ==
        "/etc/users.toml:2: users.ci: has to be a table; write [users.NAME]");
  CHECK(fault("[users.ci]\nhold_misses = \"yes\"\n").find("true or false") != std::string::npos);
  CHECK(fault("[users.ci]\nrefused_writes = \"drop\"\n").find("error, ignore") !=
        std::string::npos);
  CHECK(fault("[users.ci]\ntoken = \"secret\"\n").find("--new-token") != std::string::npos);
  CHECK(fault("[users.ci]\nrole =\n").starts_with("/etc/users.toml:2: "));
  const auto token = "token = \"" + hash_token("t") + "\"\n";
  CHECK(fault("[users.ci]\n" + token + "[users.me]\n" + token) ==
        "/etc/users.toml:3: users.me: has the token of users.ci; make another one by hearth serve "
        "--new-token");
}

TEST_CASE("two users of one name are refused, however the name is written") {
  CHECK(fault("[users.ci]\n[users.\"ci\"]\n").starts_with("/etc/users.toml:2: "));
}

TEST_CASE("a name or namespace has 1 to 58 plain characters") {
  const std::string longest(58, 'a');
  CHECK(parsed("[users.\"" + longest + "\"]\nnamespace = \"A.b_c-9\"\n").has_value());
  for (const auto& bad : {std::string(), longest + "a", std::string("a b"), std::string("a:b"),
                          std::string("a/b"), std::string("ä")}) {
    CAPTURE(bad);
    CHECK(fault("[users.\"" + bad + "\"]\n").find("1 to 58 bytes") != std::string::npos);
    const auto text = fault("[users.ci]\nnamespace = \"" + bad + "\"\n");
    CHECK(text.find(bad.empty() ? "is empty" : "1 to 58 bytes") != std::string::npos);
  }
  CHECK(fault("[users.\"a\\nb\"]\n").find('\n') == std::string::npos);
}

TEST_CASE("a file that others may read is refused") {
  const test::temporary_directory directory;
  const auto file = directory / "users.toml";
  test::write_text(file, "[users.ci]\n");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  REQUIRE(read_users(file));
  CHECK(read_users(file)->front().who.user == "ci");
  for (const auto more : {fs::perms::group_read, fs::perms::group_write, fs::perms::others_read,
                          fs::perms::others_write}) {
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | more);
    CHECK(read_users(file).error().code() == errc::permission);
    CHECK(read_users(file).error().text().find("chmod 600") != std::string::npos);
  }
}

TEST_CASE("a missing users file and a folder are errors that name it") {
  const test::temporary_directory directory;
  CHECK(read_users(directory / "none").error().code() == errc::not_found);
  CHECK(read_users(directory / "none").error().text().find("none") != std::string::npos);
  CHECK(read_users(directory.path()).error().code() == errc::invalid_argument);
}

TEST_CASE("the passwords of known hashes match, and no others") {
  CHECK(matches_password("pleaseletmein", known_hash));
  CHECK_FALSE(matches_password("pleaseletmeIn", known_hash));
  CHECK_FALSE(matches_password("", known_hash));
  CHECK_FALSE(matches_password(std::string(1025, 'a'), known_hash));
  CHECK(matches_password("secret", "scrypt$10$1$1" + std::string(known_tail)));
  CHECK_FALSE(matches_password("secret", "scrypt$10$1$2" + std::string(known_tail)));
}

TEST_CASE("a new hash matches its password, has the documented cost and a salt of its own") {
  const auto one = hash_password("correct horse"), other = hash_password("correct horse");
  REQUIRE(one);
  REQUIRE(other);
  CHECK(one->starts_with("scrypt$15$8$1$"));
  CHECK(one->find('=') == std::string::npos);
  CHECK(*one != *other);
  CHECK(matches_password("correct horse", *one));
  CHECK_FALSE(matches_password("correct horsf", *one));
  CHECK(parsed(password_line(*one)).has_value());
}

TEST_CASE("an empty password and one above 1024 bytes cannot be hashed") {
  CHECK(hash_password("").error().code() == errc::invalid_argument);
  CHECK(hash_password(std::string(1025, 'a')).error().code() == errc::invalid_argument);
}

TEST_CASE("a hash that asks for too much memory or work is refused in the file and not computed") {
  const std::string tail(known_tail);
  for (const auto* cost : {"scrypt$30$8$1", "scrypt$18$8$1", "scrypt$15$64$1", "scrypt$17$8$16",
                           "scrypt$4294967311$8$1", "scrypt$9$8$1", "scrypt$15$0$1",
                           "scrypt$15$8$0", "scrypt$-15$8$1", "scrypt$15$8$4294967295"}) {
    CAPTURE(cost);
    CHECK(fault(password_line(cost + tail)).find("--hash-password") != std::string::npos);
    CHECK_FALSE(matches_password("secret", cost + tail));
  }
}

TEST_CASE("a text of another form is no hash") {
  const std::string good = "scrypt$10$1$1" + std::string(known_tail);
  REQUIRE(parsed(password_line(good)));
  const std::string no_hashes[] = {"secret",
                                   "bcrypt" + good.substr(6),
                                   good.substr(0, good.rfind('$')),
                                   good + "$",
                                   good + "$AAAA",
                                   good + "!",
                                   good.substr(0, good.size() - 20),
                                   "scrypt$10$1$1$AAAA" + good.substr(good.rfind('$')),
                                   "scrypt$10$1" + std::string(known_tail)};
  for (const auto& bad : no_hashes) {
    CAPTURE(bad);
    CHECK(fault(password_line(bad)).starts_with("/etc/users.toml:2: users.ci.password: "));
    CHECK_FALSE(matches_password("secret", bad));
  }
}

TEST_CASE("an error about a hash does not repeat it") {
  CHECK(fault(password_line("my secret")).find("my secret") == std::string::npos);
  CHECK(fault("[users.ci]\ntoken = \"my secret\"\n").find("my secret") == std::string::npos);
}

TEST_CASE("a new token has 43 characters for URLs, is new each time, and has its hash") {
  std::set<std::string> tokens;
  for (int i = 0; i < 20; ++i) {
    const auto made = make_token();
    REQUIRE(made);
    CHECK(made->token.size() == 43);
    CHECK(made->token.find_first_of("+/=:") == std::string::npos);
    CHECK(made->hash == hash_token(made->token));
    CHECK(parsed("[users.ci]\ntoken = \"" + made->hash + "\"\n").has_value());
    tokens.insert(made->token);
  }
  CHECK(tokens.size() == 20);
}

TEST_CASE("a token's hash is its SHA-256 in lower case, and nothing else") {
  const std::string hash =
      "sha256$3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";
  CHECK(hash_token("token") == hash);
  std::string upper = hash;
  std::replace(upper.begin() + 7, upper.end(), 'c', 'C');
  for (const auto& bad : {upper, hash + "0", hash.substr(0, 70), "sha512" + hash.substr(6)})
    CHECK(fault("[users.ci]\ntoken = \"" + bad + "\"\n").find("users.ci.token") !=
          std::string::npos);
}

} // namespace users_file_test
