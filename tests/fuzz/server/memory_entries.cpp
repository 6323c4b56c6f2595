#include "tests/fuzz/server/memory_entries.hpp"

#include "runtime/server/access/authenticator.hpp"
#include "runtime/server/entries/unix_time.hpp"

#include <optional>
#include <string_view>

namespace hearth {

// Makes a cache that has a name and no runtime; it stands in for the class of
// runtime/handle/internals.hpp, which the cache has as a friend.
class internals {
public:
  static cache named(const std::string& name) {
    return {nullptr, std::make_shared<const named_cache>(named_cache{
                         .id = cache_id::make(name).value(), .number = 0, .memory_seed = 0})};
  }
};

namespace fuzz {
namespace {

std::unique_ptr<memory_entries> entries_now;

} // namespace

memory_entries& memory_entries::begin(bool answers_late) {
  entries_now = std::make_unique<memory_entries>();
  entries_now->answers_late_ = answers_late;
  return *entries_now;
}

memory_entries& memory_entries::current() { return *entries_now; }

server::entry_space memory_entries::open(const server::identity& who, unsigned database) {
  const auto trusted = internals::named("server.." + std::to_string(database));
  if (who.name_space.empty()) return {trusted, std::nullopt, nullptr};
  return {internals::named("server." + who.name_space + "." + std::to_string(database)), trusted,
          nullptr};
}

void memory_entries::call(std::function<void()> task) {
  if (!answers_late_) return task();
  owed_.push_back(std::move(task));
}

void memory_entries::deliver(std::size_t place) {
  const auto at = owed_.begin() + static_cast<std::ptrdiff_t>(place);
  const auto task = std::move(*at);
  owed_.erase(at);
  task();
}

} // namespace fuzz

namespace server {
namespace {

using fuzz::memory_entries;

constexpr std::int64_t now_us = 1'700'000'000'000'000;

memory_entries::entry_name name_of(const cache& in, std::string_view key) {
  return {in.id().name(), std::string(key)};
}

lookup find(const cache& in, std::string_view key) {
  const auto& all = memory_entries::current().entries;
  const auto at = all.find(name_of(in, key));
  if (at == all.end()) return {};
  const auto end = expiry_of(at->second);
  if (end != 0 && end <= unix_time_ms()) return {};
  return {tier::memory, at->second};
}

} // namespace

std::int64_t unix_time_us() { return now_us; }

// --- entry_space -------------------------------------------------------------------------------

entry_space::entry_space(cache own, std::optional<cache> trusted,
                         std::shared_ptr<change_order> order)
    : own_(std::move(own))
    , trusted_(std::move(trusted))
    , order_(std::move(order)) {}

future<lookup> entry_space::get(std::string_view key) const {
  auto found = find(own_, key);
  if (!found.hit() && trusted_) found = find(*trusted_, key);
  return memory_entries::current().answer<lookup>(std::move(found));
}

future<layered_lookup> entry_space::get_layers(std::string_view key) const {
  layered_lookup found{find(own_, key), trusted_ ? find(*trusted_, key) : lookup{}};
  return memory_entries::current().answer<layered_lookup>(std::move(found));
}

future<done> entry_space::put(std::string_view key, const artifact& value) const {
  auto& all = memory_entries::current();
  all.entries.insert_or_assign(name_of(own_, key), value);
  return all.answer<done>(done{});
}

future<insert_outcome> entry_space::insert(std::string_view key, const artifact& value) const {
  auto& all = memory_entries::current();
  const bool is_there = find(own_, key).hit() || (trusted_ && find(*trusted_, key).hit());
  if (!is_there) all.entries.insert_or_assign(name_of(own_, key), value);
  return all.answer<insert_outcome>(is_there ? insert_outcome::exists : insert_outcome::inserted);
}

future<bool> entry_space::erase(std::string_view key) const {
  auto& all = memory_entries::current();
  const bool is_there = find(own_, key).hit();
  all.entries.erase(name_of(own_, key));
  return all.answer<bool>(is_there);
}

future<changed_entry> entry_space::change(std::string_view key, decision decide) const {
  auto& all = memory_entries::current();
  changed_entry result{find(own_, key), false, false};
  result.is_own = result.before.hit();
  if (!result.is_own && trusted_) result.before = find(*trusted_, key);
  const auto change = decide(result.before, result.is_own);
  result.changed = change.what != entry_change::kind::keep;
  if (change.what == entry_change::kind::put)
    all.entries.insert_or_assign(name_of(own_, key), change.value);
  else if (change.what == entry_change::kind::erase)
    all.entries.erase(name_of(own_, key));
  return all.answer<changed_entry>(std::move(result));
}

// What a client may store is not what is fuzzed.
entry_space entry_space::without_http_writes() const { return *this; }

// There is one connection, which does not wait for itself.
store_watch::handle entry_space::watch(std::string_view, std::function<void()>) const {
  return nullptr;
}

// A key that another holds: there is one connection, so nobody will end that lease.
future<lease_reply> entry_space::acquire(std::string_view key, std::chrono::milliseconds) const {
  auto& all = memory_entries::current();
  if (auto found = find(own_, key); found.hit())
    return all.answer<lease_reply>(lease_reply{std::move(found), {}, false});
  const auto name = name_of(own_, key);
  if (!all.leases.emplace(name, all.last_lease + 1).second)
    return all.answer<lease_reply>(fail(errc::timeout, "another holds it"));
  const auto id = ++all.last_lease;
  offered_lease offer(id, [name] { memory_entries::current().leases.erase(name); });
  return all.answer<lease_reply>(lease_reply{{}, std::move(offer), false});
}

future<insert_outcome> entry_space::fulfil(std::string_view key, lease_id lease,
                                           const artifact& value) const {
  auto& all = memory_entries::current();
  const auto at = all.leases.find(name_of(own_, key));
  if (at == all.leases.end() || at->second != lease)
    return all.answer<insert_outcome>(fail(errc::lease_lost, "the lease has ended"));
  all.leases.erase(at);
  return insert(key, value);
}

void entry_space::release(std::string_view key, lease_id lease) const {
  auto& leases = memory_entries::current().leases;
  const auto at = leases.find(name_of(own_, key));
  if (at != leases.end() && at->second == lease) leases.erase(at);
}

expected<void> entry_space::list(
    const std::function<bool(std::string_view key, std::uint64_t bytes)>& visit) const {
  for (const auto& [name, value] : memory_entries::current().entries)
    if (name.first == own_.id().name() && find(own_, name.second).hit() &&
        !visit(name.second, value.payload().size()))
      break;
  return {};
}

// The cursor is the number of entries that earlier pages had.
expected<key_page>
entry_space::scan(std::uint64_t cursor, std::size_t count,
                  const std::function<bool(std::string_view key, entry_type)>& wanted) const {
  key_page page;
  std::uint64_t number = 0;
  auto listed = list([&](std::string_view key, std::uint64_t) {
    if (number++ < cursor) return true;
    if (number > cursor + count) {
      page.next = cursor + count;
      return false;
    }
    if (wanted(key, type_of(find(own_, key).value))) page.keys.emplace_back(key);
    return true;
  });
  if (!listed) return fail(listed.error());
  return page;
}

// --- authenticator: the password and token of each user is its name -----------------------------

struct authenticator::state {
  user_list users;

  expected<identity_ptr> identity_of(std::string_view user, std::string_view secret) const {
    for (const auto& one : users)
      if (one.who.user == user && user == secret) return std::make_shared<const identity>(one.who);
    return fail(errc::permission, "wrong user, password or token; see the server's users file");
  }
};

authenticator::authenticator(user_list users, clock_function)
    : state_(std::make_unique<state>()) {
  state_->users = std::move(users);
}

authenticator::~authenticator() = default;

identity_ptr authenticator::user_named(std::string_view user) const {
  for (const auto& one : state_->users)
    if (one.who.user == user) return std::make_shared<const identity>(one.who);
  return nullptr;
}

void authenticator::check_password(std::string_view user, std::string_view password,
                                   std::string_view, answer_callback answer) {
  memory_entries::current().call(
      [who = state_->identity_of(user, password), answer = std::move(answer)] { answer(who); });
}

void authenticator::check_token(std::string_view token, std::string_view from,
                                answer_callback answer) {
  const auto colon = token.find(':');
  check_password(token.substr(0, colon), colon == token.npos ? token : token.substr(colon + 1),
                 from, std::move(answer));
}

} // namespace server
} // namespace hearth
