#include "runtime/server/access/authenticator.hpp"

#include "runtime/os/quiet_thread.hpp"
#include "runtime/server/access/credential_forms.hpp"
#include "runtime/server/access/failure_limiter.hpp"
#include "runtime/server/access/remembered_credentials.hpp"
#include "runtime/server/access/user_table.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <openssl/crypto.h>
#include <optional>
#include <thread>
#include <utility>

namespace hearth::server {
namespace {

tl::unexpected<error> wrong_credentials() {
  return fail(errc::permission, "wrong user, password or token; see the server's users file");
}

using check_result = expected<identity_ptr>;

} // namespace

struct authenticator::state {
  // A password that waits for its hash.
  struct waiting_check {
    digest name;
    std::string user, password, from;
    answer_callback answer;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<waiting_check> queue;
  std::thread worker;
  bool is_stopped = false;
  user_table_ptr users;
  remembered_credentials remembered;
  failure_limiter limiter;
  clock_function clock;

  std::optional<check_result> known_result(const digest& name, std::string_view from);
  check_result note(const user_table_ptr& of, const digest& name, std::string_view from,
                    identity_ptr who);
  expected<void> enqueue(waiting_check&& one);
  void work();
  check_result check(waiting_check& one);
  void stop();
};

// The result that needs no hash: the credentials are known to be right, or the address has to wait.
// With the lock.
std::optional<check_result> authenticator::state::known_result(const digest& name,
                                                               std::string_view from) {
  if (auto who = remembered.find(name)) return check_result(std::move(who));
  if (limiter.is_limited(from, clock()))
    return fail(errc::overloaded,
                "too many wrong credentials from " + std::string(from) + "; try again in a minute");
  return std::nullopt;
}

// The result of a check with the users `of`, noted. Right credentials are not remembered if the
// users were replaced meanwhile. Without the lock.
check_result authenticator::state::note(const user_table_ptr& of, const digest& name,
                                        std::string_view from, identity_ptr who) {
  const std::lock_guard lock(mutex);
  if (!who) {
    limiter.note_failure(from, clock());
    return wrong_credentials();
  }
  if (of == users) remembered.remember(name, who);
  return who;
}

// With the lock.
expected<void> authenticator::state::enqueue(waiting_check&& one) {
  if (queue.size() >= max_waiting)
    return fail(errc::overloaded, "too many passwords wait to be checked; try again");
  if (!worker.joinable()) {
    auto started = os::start_quiet_thread("hearth.password", [this] { work(); });
    if (!started)
      return fail(errc::overloaded, "no thread to be had to check a password on; try again");
    worker = std::move(*started);
  }
  queue.push_back(std::move(one));
  changed.notify_one();
  return {};
}

void authenticator::state::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return is_stopped || !queue.empty(); });
    if (is_stopped) return;
    auto next = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    next.answer(check(next));
    next = {};
    lock.lock();
  }
}

// While the check waited, the same credentials may have been found right, or the address may have
// failed too often.
check_result authenticator::state::check(waiting_check& one) {
  user_table_ptr of;
  {
    const std::lock_guard lock(mutex);
    if (auto known = known_result(one.name, one.from)) return std::move(*known);
    of = users;
  }
  auto who = of->user_of_password(one.user, one.password);
  OPENSSL_cleanse(one.password.data(), one.password.size());
  return note(of, one.name, one.from, std::move(who));
}

void authenticator::state::stop() {
  std::deque<waiting_check> dropped;
  std::thread ended;
  {
    const std::lock_guard lock(mutex);
    is_stopped = true;
    dropped.swap(queue);
    ended.swap(worker);
  }
  changed.notify_all();
  for (auto& one : dropped)
    one.answer(fail(errc::closed, "the server ends"));
  if (ended.joinable()) ended.join();
}

authenticator::authenticator(user_list users, clock_function clock)
    : state_(std::make_unique<state>()) {
  state_->users = std::make_shared<const user_table>(std::move(users));
  state_->clock = std::move(clock);
}

authenticator::~authenticator() { state_->stop(); }

void authenticator::replace_users(user_list users) {
  user_table_ptr table = std::make_shared<const user_table>(std::move(users));
  const std::lock_guard lock(state_->mutex);
  state_->users.swap(table);
  state_->remembered.clear();
}

identity_ptr authenticator::user_named(std::string_view user) const {
  const std::lock_guard lock(state_->mutex);
  return state_->users->user_named(user);
}

void authenticator::check_password(std::string_view user, std::string_view password,
                                   std::string_view from, answer_callback answer) {
  const bool is_possible =
      user.size() <= max_user_name_bytes && password.size() <= max_secret_bytes;
  const auto name = is_possible ? state_->remembered.name_of_password(user, password) : digest{};
  std::optional<check_result> result;
  {
    const std::lock_guard lock(state_->mutex);
    result = state_->known_result(name, from);
    if (!result && is_possible) {
      const auto waits = state_->enqueue(
          {name, std::string(user), std::string(password), std::string(from), answer});
      if (waits) return;
      result = fail(waits.error());
    }
  }
  if (!result) result = state_->note(nullptr, name, from, nullptr);
  answer(std::move(*result));
}

void authenticator::check_token(std::string_view token, std::string_view from,
                                answer_callback answer) {
  if (const auto colon = token.find(':'); colon != token.npos)
    return check_password(token.substr(0, colon), token.substr(colon + 1), from, std::move(answer));
  const bool is_possible = token.size() <= max_secret_bytes;
  const auto name = is_possible ? state_->remembered.name_of_token(token) : digest{};
  user_table_ptr of;
  std::optional<check_result> result;
  {
    const std::lock_guard lock(state_->mutex);
    result = state_->known_result(name, from);
    of = state_->users;
  }
  if (!result)
    result = state_->note(of, name, from, is_possible ? of->user_of_token(token) : nullptr);
  answer(std::move(*result));
}

} // namespace hearth::server
