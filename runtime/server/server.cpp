#include "runtime/server/server.hpp"

#include "runtime/api/version.hpp"
#include "runtime/handle/internals.hpp"
#include "runtime/server/access/credential_forms.hpp"
#include "runtime/server/crsh/crsh_session.hpp"
#include "runtime/server/http/http_session.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_session.hpp"
#include "runtime/server/status/metrics.hpp"
#include "runtime/server/status/status_json.hpp"
#include "storage/disk/store_check.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace hearth::server {
namespace {

using namespace std::chrono_literals;

// Named caches of the server: the trusted namespace, and each other one.
constexpr std::string_view trusted_name = "serve";

static_assert(trusted_name.size() + 1 + max_user_name_bytes <= max_cache_name_bytes,
              "a cache can have the name of each namespace");

std::string cache_name(const std::string& name_space) {
  return name_space.empty() ? std::string(trusted_name)
                            : std::string(trusted_name) + '.' + name_space;
}

// A call of a connection must never block its thread.
config runtime_settings(config settings) {
  settings.overload = overload_policy::refuse;
  settings.max_inflight = std::max<std::size_t>(settings.max_inflight, 1u << 16);
  return settings;
}

std::size_t thread_count(const server_settings& settings) {
  return settings.threads != 0 ? settings.threads
                               : std::max(1u, std::thread::hardware_concurrency());
}

} // namespace

expected<std::unique_ptr<server>> server::start(server_settings settings) {
  // The runtime would say that it goes on without the store.
  if (!settings.cache.store.empty())
    if (const auto good = storage::check_store(settings.cache.store); !good)
      return fail(good.error().within("the store"));
  std::unique_ptr<server> made(new server(std::move(settings)));
  if (auto good = made->open(); !good) return fail(good.error());
  if (auto good = made->listen(); !good) return fail(good.error());
  return made;
}

server::server(server_settings settings)
    : settings_(std::move(settings))
    , runtime_(runtime_settings(settings_.cache)) {}

server::~server() {
  for (const auto& one : listeners_)
    one->drain();
  for (const auto& one : listeners_)
    one->end_connections();
  // All that calls back into connections ends before they and their loops do.
  if (threads_) threads_->stop();
  users_.reset();
  blocking_.reset();
  stream_changes_.reset();
  runtime_.shutdown();
  listeners_.clear();
  threads_.reset();
}

// --- start -------------------------------------------------------------------------------------

expected<void> server::open() {
  if (!settings_.cache.store.empty() && !runtime_.has_disk())
    return fail(runtime_.disk_problem().within("the store"));
  users_ = std::make_unique<authenticator>(user_list{});
  if (auto good = set_users(); !good) return good;
  blocking_.emplace();
  context_.emplace(settings_, *users_, counters_);
  context_->log = settings_.cache.log;
  context_->logs_requests = settings_.log == log_level::debug;
  context_->entries_of = [this](const identity& who, unsigned database) {
    return entries_of(who, database);
  };
  context_->run_blocking = [this](std::function<void()> task) { blocking_->run(std::move(task)); };
  context_->require_password = [this](const std::string& password) {
    return require_password(password);
  };
  context_->metrics_page = [this] { return metrics_page(); };
  context_->status_json = [this] { return status_page_json(); };
  context_->info_text = [this] { return info_text(); };
  open_streams();
  return {};
}

// Without the file the server serves all else: another one of this store may have it now.
void server::open_streams() {
  stream_changes_.emplace();
  stream_settings settings;
  if (!settings_.cache.store.empty()) settings.file = settings_.cache.store / "v1" / "streams";
  settings.run = [this](std::function<void()> task) { stream_changes_->run(std::move(task)); };
  settings.now_ms = unix_time_ms;
  settings.log = settings_.cache.log;
  context_->streams = std::make_shared<stream_log>(std::move(settings));
  if (auto good = context_->streams->open(); !good)
    context_->write_log(log_level::warning, "no streams (XADD): " + good.error().text());
}

expected<void> server::listen() {
  std::vector<std::pair<listening_socket, net::tls_context>> opened;
  for (const auto& one : settings_.listeners) {
    auto tls = server_tls(one);
    if (!tls) return fail(tls.error());
    auto socket = listen_at(one.address);
    if (!socket) return fail(socket.error());
    opened.emplace_back(std::move(*socket), std::move(*tls));
  }
  threads_.emplace(internals::core(runtime_).system(), thread_count(settings_));
  for (std::size_t i = 0; i < opened.size(); ++i) {
    const auto& settings = settings_.listeners[i];
    auto made = std::make_shared<listener>(
        *threads_, std::move(opened[i].first), settings, *context_,
        [this, &settings](session_host& host) { return make_session(settings, host); });
    made->set_tls(std::move(opened[i].second));
    made->set_anonymous(anonymous_of(settings));
    listeners_.push_back(std::move(made));
  }
  for (const auto& one : listeners_)
    one->start();
  return {};
}

std::unique_ptr<session> server::make_session(const listener_settings& at, session_host& host) {
  switch (at.speaks) {
  case protocol::resp: return std::make_unique<resp_session>(host, *context_);
  case protocol::http: return std::make_unique<http_session>(host, *context_, at);
  case protocol::crsh: return std::make_unique<crsh_session>(host, *context_);
  }
  return nullptr;
}

std::vector<std::string> server::addresses() const {
  std::vector<std::string> all;
  for (const auto& one : listeners_)
    all.push_back(std::string(to_string(one->settings().speaks)) + ' ' + one->address());
  return all;
}

// --- users -------------------------------------------------------------------------------------

identity_ptr server::anonymous_of(const listener_settings& settings) const {
  if (!settings.anonymous || default_user_) return nullptr;
  identity who;
  who.user = "anonymous";
  who.is_anonymous = true;
  who.role = *settings.anonymous;
  who.name_space = settings.anonymous_namespace;
  who.hold_misses = settings.hold_misses;
  who.refused = settings.refused;
  return std::make_shared<const identity>(std::move(who));
}

expected<void> server::set_users() {
  user_list users;
  if (!settings_.users_file.empty()) {
    auto read = read_users(settings_.users_file);
    if (!read) return fail(read.error());
    users = std::move(*read);
  }
  if (default_user_) {
    std::erase_if(users, [&](const auto& one) { return one.who.user == default_user_->who.user; });
    users.push_back(*default_user_);
  }
  users_->replace_users(std::move(users));
  return {};
}

expected<void> server::reload(const server_settings& settings) {
  std::vector<net::tls_context> contexts;
  for (const auto& one : settings_.listeners) {
    auto tls = server_tls(one);
    if (!tls) return fail(tls.error());
    contexts.push_back(std::move(*tls));
  }
  const std::lock_guard lock(users_mutex_);
  if (auto good = set_users(); !good) return good;
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    listeners_[i]->set_tls(std::move(contexts[i]));
  const followed now{settings.limits, settings.hold};
  auto known = std::find(followed_.begin(), followed_.end(), now);
  if (known == followed_.end()) known = followed_.insert(followed_.end(), now);
  context_->follow(known->limits, known->hold);
  return {};
}

// The listener whose clients without credentials need the password from now on. It is one password
// for all of them: where they may do different things, it would make the least of them the others.
expected<const listener_settings*> server::guarded_listener() const {
  const listener_settings* first = nullptr;
  for (const auto& one : settings_.listeners) {
    if (!one.anonymous) continue;
    if (!first) first = &one;
    if (one.anonymous != first->anonymous || one.anonymous_namespace != first->anonymous_namespace)
      return fail(errc::invalid_argument,
                  "the listeners let clients without credentials do different things, which one "
                  "password cannot tell apart; give them users in the users file");
  }
  if (!first)
    return fail(errc::invalid_argument, "no listener lets clients in without credentials; the "
                                        "passwords of users are in the users file");
  return first;
}

// The default user may do what clients without credentials could.
expected<void> server::replace_default_user(const std::string& password) {
  const auto guarded = guarded_listener();
  if (!guarded) return fail(guarded.error());
  default_user_.reset();
  if (password.empty()) return {};
  auto hash = hash_password(password);
  if (!hash) return fail(hash.error());
  user_entry made{*anonymous_of(**guarded), std::move(*hash), {}};
  made.who.user = "default";
  made.who.is_anonymous = false;
  default_user_ = std::move(made);
  return {};
}

expected<void> server::require_password(const std::string& password) {
  const std::lock_guard lock(users_mutex_);
  auto before = default_user_;
  auto good = replace_default_user(password);
  if (good) good = set_users();
  if (!good) {
    default_user_ = std::move(before);
    return good;
  }
  for (const auto& one : listeners_)
    one->set_anonymous(anonymous_of(one->settings()));
  return {};
}

// --- entries -----------------------------------------------------------------------------------

expected<cache> server::open_cache(const std::string& name_space, unsigned database) {
  const auto version = "db" + std::to_string(database);
  cache_options options;
  options.version = version;
  options.compress = settings_.compress;
  return runtime_.open(cache_name(name_space), options);
}

expected<entry_space> server::entries_of(const identity& who, unsigned database) {
  auto own = open_cache(who.name_space, database);
  if (!own) return fail(own.error());
  if (who.name_space.empty()) return entry_space(std::move(*own), std::nullopt, order_);
  auto trusted = open_cache({}, database);
  if (!trusted) return fail(trusted.error());
  return entry_space(std::move(*own), std::move(*trusted), order_);
}

// --- pages -------------------------------------------------------------------------------------

std::string server::metrics_page() {
  return runtime_.metrics().value_or(std::string{}) + server_metrics(counters_);
}

std::string server::status_page_json() {
  status_facts facts;
  facts.version = version();
  facts.uptime = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began_);
  facts.is_draining = context_->is_draining;
  facts.listeners = addresses();
  facts.max_connections = context_->limits().connections;
  // Without a password that the URL may have.
  const auto& url = settings_.cache.remote.url;
  facts.upstream = url.substr(std::min(url.size(), url.rfind('@') + 1));
  if (const auto& store = internals::core(runtime_).store()) facts.disk = store->stats();
  return status_json(counters_, runtime_.stats(), facts);
}

std::string server::info_text() {
  const auto stats = runtime_.stats();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_)
          .count();
  const auto count = [this](request_outcome outcome) {
    std::uint64_t sum = 0;
    for (const auto& kinds : counters_.requests)
      sum += kinds[static_cast<std::size_t>(request_kind::get)][static_cast<std::size_t>(outcome)];
    return sum;
  };
  std::uint64_t connections = 0;
  for (const auto& one : counters_.connections)
    connections += one;
  std::string text = "# Server\r\nredis_version:" + std::string(compatible_redis_version) +
                     "\r\nhearth_version:" + std::string(version()) +
                     "\r\nredis_mode:standalone\r\nprocess_id:" + std::to_string(::getpid()) +
                     "\r\nuptime_in_seconds:" + std::to_string(seconds) +
                     "\r\n\r\n# Clients\r\nconnected_clients:" + std::to_string(connections);
  text += "\r\n\r\n# Memory\r\nused_memory:" + std::to_string(stats.bytes_used) +
          "\r\nmaxmemory:" + std::to_string(stats.budget_bytes);
  text += "\r\n\r\n# Persistence\r\nloading:0\r\n\r\n# Stats\r\nkeyspace_hits:" +
          std::to_string(count(request_outcome::hit)) +
          "\r\nkeyspace_misses:" + std::to_string(count(request_outcome::miss)) +
          "\r\nevicted_keys:" + std::to_string(stats.evicted) +
          "\r\nhearth_held_misses:" + std::to_string(counters_.held_now) +
          "\r\nhearth_holders:" + std::to_string(counters_.holders_now) +
          "\r\n\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n";
  return text;
}

// --- the run -----------------------------------------------------------------------------------

std::size_t server::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    changed.wait_for(lock, stop, 1s, [] { return false; });
    for (const auto& one : listeners_)
      one->check_times();
  }
  return drain();
}

std::size_t server::drain() {
  context_->is_draining = true;
  for (const auto& one : listeners_)
    one->drain();
  const auto end = std::chrono::steady_clock::now() + settings_.drain_deadline;
  std::size_t left = 0;
  for (const auto& one : listeners_)
    left += one->wait_until_empty(end);
  for (const auto& one : listeners_)
    one->end_connections();
  static_cast<void>(runtime_.flush());
  if (auto synced = context_->streams->sync(); !synced)
    context_->write_log(log_level::warning, synced.error().text());
  return left;
}

} // namespace hearth::server
