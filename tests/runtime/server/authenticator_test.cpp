// Credentials: which are right, on which thread they are hashed, what is remembered, and when an
// address has to wait. The time is the test's own; a busy worker is one whose answer waits.
#include "runtime/server/access/authenticator.hpp"
#include "runtime/server/access/failure_limiter.hpp"
#include "runtime/server/access/remembered_credentials.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <doctest/doctest.h>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace authenticator_test {

using namespace hearth;
using namespace hearth::server;
using namespace std::chrono_literals;

namespace {

using result = expected<identity_ptr>;
using time_point = std::chrono::steady_clock::time_point;

// A value that another thread sets once. Copies share it, so that it outlives the test's own.
template <class T>
class shared_value {
public:
  void set(T value) const { promise_->set_value(std::move(value)); }
  T get() const { return promise_->get_future().get(); }

private:
  std::shared_ptr<std::promise<T>> promise_ = std::make_shared<std::promise<T>>();
};

// The answer to a check.
struct reply : shared_value<result> {
  authenticator::answer_callback callback() const {
    return [self = *this](result got) { self.set(std::move(got)); };
  }
};

// Of "secret" and "other", by scrypt with N = 1024, r = 1, p = 1, which is fast.
constexpr auto secret_hash =
    "scrypt$10$1$1$MDEyMzQ1Njc4OWFiY2RlZg$SVuM0KSexiHimepMIq8EAUTo2etmecfCLZSlwiAM8gU";
constexpr auto other_hash =
    "scrypt$10$1$1$ZmVkY2JhOTg3NjU0MzIxMA$A6UZT7Gw3qIcIoAo+wfi8WJAokxpgWkPEmTZASseZNs";
// Of "slow", with N = 4096, r = 8.
constexpr auto slow_hash =
    "scrypt$12$8$1$ZmVkY2JhOTg3NjU0MzIxMA$UY5WfrWiBSOWs0bchuUcgfBZDKm91gZn961cqItLOuU";

user_entry user(const std::string& name, const std::string& password_hash,
                const std::string& token = {}) {
  user_entry entry;
  entry.who.user = name;
  entry.password_hash = password_hash;
  if (!token.empty()) entry.token_hash = hash_token(token);
  return entry;
}

user_list some_users() {
  return {user("ana", secret_hash), user("ben", other_hash, "token of ben"),
          user("cy", "", "token of cy")};
}

// An authenticator whose clock the test sets.
struct workbench {
  std::atomic<time_point> now{time_point{} + 1h};
  authenticator users;

  explicit workbench(user_list list = some_users())
      : users(std::move(list), [this] { return now.load(); }) {}

  result password(const std::string& name, const std::string& password,
                  const std::string& from = "10.0.0.1") {
    const reply answer;
    users.check_password(name, password, from, answer.callback());
    return answer.get();
  }
  result token(const std::string& text, const std::string& from = "10.0.0.1") {
    const reply answer;
    users.check_token(text, from, answer.callback());
    return answer.get();
  }
  // The answer if it comes before the call returns.
  std::optional<result> password_at_once(const std::string& name, const std::string& password,
                                         const std::string& from = "10.0.0.1") {
    auto answer = std::make_shared<std::optional<result>>();
    auto asked_by = std::this_thread::get_id();
    users.check_password(name, password, from, [answer, asked_by](result got) {
      if (std::this_thread::get_id() == asked_by) *answer = got;
    });
    return *answer;
  }
  void fail_times(int count, const std::string& from = "10.0.0.1") {
    for (int i = 0; i < count; ++i)
      CHECK(password("ana", "wrong", from).error().code() == errc::permission);
  }
};

// Keeps the worker of an authenticator in an answer until it is released.
class busy_worker {
public:
  explicit busy_worker(authenticator& users) {
    users.check_password("nobody", "x", "busy",
                         [begun = begun_, released = released_](const result&) {
                           begun.set(true);
                           released.get();
                         });
    begun_.get();
  }
  void release() { released_.set(true); }

private:
  shared_value<bool> begun_, released_;
};

std::string name_of(const result& got) { return got ? (*got)->user : got.error().text(); }

errc code_of(const result& got) { return got ? errc::internal : got.error().code(); }

std::chrono::nanoseconds thread_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

} // namespace

TEST_CASE("a right password gives the user, whatever else is wrong says the same") {
  workbench at;
  CHECK(name_of(at.password("ana", "secret")) == "ana");
  CHECK(name_of(at.password("ben", "other")) == "ben");
  const auto wrong = at.password("ana", "other");
  CHECK(code_of(wrong) == errc::permission);
  for (const auto& got : {at.password("nobody", "secret"), at.password("cy", "token of cy"),
                          at.password("ana", ""), at.password("", ""), at.token("token of ana")}) {
    REQUIRE_FALSE(got);
    CHECK(got.error() == wrong.error());
  }
}

TEST_CASE("a token gives its user, alone or as name and password") {
  workbench at;
  CHECK(name_of(at.token("token of ben")) == "ben");
  CHECK(name_of(at.token("token of cy")) == "cy");
  CHECK(name_of(at.token("ana:secret")) == "ana");
  CHECK(code_of(at.token("")) == errc::permission);
  CHECK(code_of(at.token("token of c")) == errc::permission);
  CHECK(code_of(at.token("cy:token of cy")) == errc::permission);
  CHECK(code_of(at.token("ana:other")) == errc::permission);
}

TEST_CASE("a password with a colon is whole behind the first one") {
  workbench at({user("ana", hash_password("a:b").value())});
  CHECK(name_of(at.token("ana:a:b")) == "ana");
}

TEST_CASE("a password is hashed on another thread, and a right one only once") {
  workbench at;
  const shared_value<std::thread::id> hashed_on;
  at.users.check_password("ana", "secret", "10.0.0.1", [hashed_on](const result&) {
    hashed_on.set(std::this_thread::get_id());
  });
  CHECK(hashed_on.get() != std::this_thread::get_id());
  const auto known = at.password_at_once("ana", "secret", "10.0.0.2");
  REQUIRE(known);
  CHECK(name_of(*known) == "ana");
}

TEST_CASE("what is remembered is the user with the password, not one of them") {
  workbench at;
  CHECK(at.password("ana", "secret"));
  busy_worker worker(at.users);
  CHECK_FALSE(at.password_at_once("ana", "secre"));
  CHECK_FALSE(at.password_at_once("ben", "secret"));
  CHECK_FALSE(at.password_at_once("an", "asecret"));
  CHECK(at.password_at_once("ana", "secret"));
  worker.release();
}

TEST_CASE("a wrong password is hashed again each time") {
  workbench at;
  at.fail_times(1);
  busy_worker worker(at.users);
  CHECK_FALSE(at.password_at_once("ana", "wrong"));
  worker.release();
}

TEST_CASE("an unknown user and one without a password take as long as a known one") {
  workbench at({user("ana", slow_hash), user("cy", "", "token")});
  const auto used_once = [&](const std::string& name) {
    at.now = at.now.load() + 1min;
    const shared_value<std::chrono::nanoseconds> before, after;
    // The second check begins where the first one's answer ends.
    busy_worker worker(at.users);
    at.users.check_password("ana", "", "a", [before](const result&) { before.set(thread_time()); });
    at.users.check_password(name, "wrong", "b",
                            [after](const result&) { after.set(thread_time()); });
    worker.release();
    const auto begin = before.get();
    return after.get() - begin;
  };
  // The processor's time of the worker: the least of some, because the first hash sets OpenSSL up.
  const auto used_by = [&](const std::string& name) {
    return std::min({used_once(name), used_once(name), used_once(name)});
  };
  const auto known = used_by("ana");
  CHECK(used_by("nobody") > known / 4);
  CHECK(used_by("cy") > known / 4);
}

TEST_CASE("a password that is too long is wrong and not hashed") {
  workbench at;
  busy_worker worker(at.users);
  const std::string too_long(1025, 'x');
  const auto password = at.password_at_once("ana", too_long);
  REQUIRE(password);
  CHECK(code_of(*password) == errc::permission);
  const auto name = at.password_at_once(too_long, "secret");
  REQUIRE(name);
  CHECK(code_of(*name) == errc::permission);
  CHECK(code_of(at.token(too_long)) == errc::permission);
  worker.release();
}

TEST_CASE("the clients of one user that come at once cost one hash") {
  workbench at;
  at.fail_times(9);
  busy_worker worker(at.users);
  const std::vector<reply> answers(3);
  for (const auto& one : answers)
    at.users.check_password("ana", "secret", "10.0.0.1", one.callback());
  const reply wrong;
  at.users.check_password("ana", "wrong", "10.0.0.1", wrong.callback());
  const reply last;
  at.users.check_password("ana", "secret", "10.0.0.1", last.callback());
  worker.release();
  for (const auto& one : answers)
    CHECK(name_of(one.get()) == "ana");
  CHECK(code_of(wrong.get()) == errc::permission);
  // The address has to wait by now: a hash would be refused, and the remembered one is not.
  CHECK(name_of(last.get()) == "ana");
}

TEST_CASE("after ten failures within a minute an address waits until the minute is over") {
  workbench at;
  at.fail_times(1);
  at.now = at.now.load() + 30s;
  at.fail_times(8);
  CHECK(name_of(at.password("ana", "secret")) == "ana");
  at.fail_times(1);
  for (const auto& got :
       {at.password("ben", "other"), at.password("ana", "wrong"), at.token("token of ben"),
        at.token("none"), at.password("ana", std::string(2000, 'x'))})
    CHECK(code_of(got) == errc::overloaded);
  CHECK(at.password("ben", "other").error().text().find("10.0.0.1") != std::string::npos);
  at.now = at.now.load() + 29s;
  CHECK(code_of(at.password("ben", "other")) == errc::overloaded);
  at.now = at.now.load() + 1s;
  CHECK(name_of(at.password("ben", "other")) == "ben");
  at.fail_times(10);
  CHECK(code_of(at.password("ana", "wrong")) == errc::overloaded);
}

TEST_CASE("failures far apart limit nobody") {
  workbench at;
  for (int i = 0; i < 4; ++i) {
    at.fail_times(9);
    at.now = at.now.load() + 60s;
  }
  CHECK(name_of(at.password("ana", "secret")) == "ana");
}

TEST_CASE("an address that waits does not stop others, nor those that are known to be right") {
  workbench at;
  CHECK(name_of(at.password("ana", "secret")) == "ana");
  CHECK(name_of(at.token("token of cy")) == "cy");
  at.fail_times(10);
  CHECK(code_of(at.password("ben", "other")) == errc::overloaded);
  CHECK(name_of(at.password("ana", "secret")) == "ana");
  CHECK(name_of(at.token("ana:secret")) == "ana");
  CHECK(name_of(at.token("token of cy")) == "cy");
  CHECK(name_of(at.password("ben", "other", "10.0.0.2")) == "ben");
}

TEST_CASE("wrong tokens count as failures") {
  workbench at;
  for (int i = 0; i < 10; ++i)
    CHECK(code_of(at.token("guess")) == errc::permission);
  CHECK(code_of(at.token("token of cy")) == errc::overloaded);
  CHECK(code_of(at.password("ana", "secret")) == errc::overloaded);
}

TEST_CASE("guesses that were queued before the first one failed are refused after the tenth") {
  workbench at;
  busy_worker worker(at.users);
  const std::vector<reply> answers(15);
  for (const auto& one : answers)
    at.users.check_password("ana", "wrong", "10.0.0.1", one.callback());
  worker.release();
  for (std::size_t i = 0; i < answers.size(); ++i)
    CHECK(code_of(answers[i].get()) == (i < 10 ? errc::permission : errc::overloaded));
}

TEST_CASE("more checks than the queue holds are refused at once") {
  workbench at;
  busy_worker worker(at.users);
  const std::vector<reply> answers(authenticator::max_waiting);
  for (const auto& one : answers)
    at.users.check_password("ana", "secret", "10.0.0.1", one.callback());
  const auto refused = at.password_at_once("ana", "secret");
  REQUIRE(refused);
  CHECK(code_of(*refused) == errc::overloaded);
  worker.release();
  for (const auto& one : answers)
    CHECK(name_of(one.get()) == "ana");
  CHECK(name_of(at.password("ana", "secret")) == "ana");
}

TEST_CASE("replaced users are checked, and nothing of the old ones is remembered") {
  workbench at;
  const auto before = at.password("ana", "secret");
  CHECK(name_of(at.token("token of cy")) == "cy");
  at.users.replace_users({user("ana", other_hash), user("dee", secret_hash)});
  CHECK(code_of(at.password("ana", "secret")) == errc::permission);
  CHECK(code_of(at.token("token of cy")) == errc::permission);
  CHECK(name_of(at.password("ana", "other")) == "ana");
  CHECK(name_of(at.password("dee", "secret")) == "dee");
  CHECK((*before)->user == "ana");
}

TEST_CASE("a password that was right when users were replaced is not remembered") {
  // The worker asks for the time just before it hashes, which takes long enough to be overtaken.
  const shared_value<bool> hashing;
  std::atomic<bool> is_told{false};
  const auto test_thread = std::this_thread::get_id();
  authenticator users({user("ana", hash_password("secret").value())}, [&] {
    if (std::this_thread::get_id() != test_thread && !is_told.exchange(true)) hashing.set(true);
    return time_point{} + 1h;
  });
  const reply before, after;
  users.check_password("ana", "secret", "a", before.callback());
  hashing.get();
  users.replace_users({user("ana", other_hash)});
  CHECK(name_of(before.get()) == "ana");
  users.check_password("ana", "secret", "a", after.callback());
  CHECK(code_of(after.get()) == errc::permission);
}

TEST_CASE("a replaced user's new role holds for the next check") {
  workbench at;
  CHECK((*at.password("ana", "secret"))->role == user_role::reader);
  auto ana = user("ana", secret_hash);
  ana.who.role = user_role::admin;
  at.users.replace_users({ana});
  CHECK((*at.password("ana", "secret"))->role == user_role::admin);
}

TEST_CASE("the end answers the checks that wait with closed, and waits for the one that runs") {
  std::atomic<bool> has_ended{false};
  const std::vector<reply> answers(3);
  const shared_value<bool> begun, released;
  {
    workbench at;
    at.users.check_password("ana", "secret", "10.0.0.1", [&](const result&) {
      begun.set(true);
      released.get();
      has_ended = true;
    });
    begun.get();
    at.users.check_password("ana", "wrong", "10.0.0.1", [&](result got) {
      answers[0].set(got);
      CHECK_FALSE(has_ended);
      released.set(true);
    });
    for (std::size_t i = 1; i < answers.size(); ++i)
      at.users.check_password("ana", "wrong", "10.0.0.1", answers[i].callback());
  }
  CHECK(has_ended);
  for (const auto& one : answers)
    CHECK(code_of(one.get()) == errc::closed);
}

TEST_CASE("many threads may ask at once, while users are replaced") {
  workbench at;
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&at, &right, i] {
        for (int j = 0; j < 50; ++j) {
          if (at.password("ana", "secret", "address " + std::to_string(i))) ++right;
          if (at.token("token of cy", "address " + std::to_string(i))) ++right;
          if (i == 0 && j % 10 == 0) at.users.replace_users(some_users());
        }
      });
  }
  CHECK(right == 400);
}

TEST_CASE("the limiter keeps a bounded number of addresses, and drops the one that failed first") {
  failure_limiter limiter;
  const time_point now = time_point{} + 1h;
  const auto fail_often = [&](const std::string& address) {
    for (std::size_t i = 0; i < failure_limiter::max_failures; ++i)
      limiter.note_failure(address, now);
  };
  fail_often("first");
  fail_often("second");
  for (std::size_t i = 2; i < failure_limiter::max_addresses; ++i)
    limiter.note_failure(std::to_string(i), now);
  CHECK(limiter.is_limited("first", now));
  limiter.note_failure("one more", now);
  CHECK_FALSE(limiter.is_limited("first", now));
  CHECK(limiter.is_limited("second", now));
}

TEST_CASE("addresses of one IPv6 network are limited together, those of IPv4 each by itself") {
  const time_point now = time_point{} + 1h;
  const auto is_limited = [&](const std::string& fails, const std::string& asks) {
    failure_limiter limiter;
    for (std::size_t i = 0; i < failure_limiter::max_failures; ++i)
      limiter.note_failure(fails, now);
    return limiter.is_limited(asks, now);
  };
  CHECK(is_limited("2001:db8:1:2::1", "2001:db8:1:2:ffff::7"));
  CHECK_FALSE(is_limited("2001:db8:1:2::1", "2001:db8:1:3::1"));
  CHECK_FALSE(is_limited("::ffff:192.0.2.1", "::ffff:192.0.2.2"));
  CHECK_FALSE(is_limited("192.0.2.1", "192.0.2.2"));
  CHECK(is_limited("unix", "unix"));
}

TEST_CASE("a user whose credentials were checked elsewhere is found by its name") {
  const authenticator users(some_users());
  REQUIRE(users.user_named("ana"));
  CHECK(users.user_named("ana")->user == "ana");
  CHECK_FALSE(users.user_named("nobody"));
  CHECK_FALSE(users.user_named(""));
}

TEST_CASE("the right credentials that are remembered are bounded, and the oldest are dropped") {
  remembered_credentials remembered;
  const auto who = std::make_shared<const identity>();
  const auto name = [&](std::size_t i) {
    return remembered.name_of_password("ana", std::to_string(i));
  };
  for (std::size_t i = 0; i <= remembered_credentials::max_remembered; ++i)
    remembered.remember(name(i), who);
  CHECK_FALSE(remembered.find(name(0)));
  CHECK(remembered.find(name(1)) == who);
  CHECK(remembered.find(name(remembered_credentials::max_remembered)) == who);
  remembered.clear();
  CHECK_FALSE(remembered.find(name(1)));
}

TEST_CASE("the names of credentials differ by user, password, kind and process key") {
  const remembered_credentials one, other;
  const auto name = one.name_of_password("ab", "c");
  CHECK(name == one.name_of_password("ab", "c"));
  CHECK(name != one.name_of_password("a", "bc"));
  CHECK(name != other.name_of_password("ab", "c"));
  CHECK(one.name_of_token("c") != one.name_of_password("", "c"));
  CHECK(one.name_of_token("c") != one.name_of_password("token", "c"));
}

} // namespace authenticator_test
