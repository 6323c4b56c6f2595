// The server of `hearth serve`: a runtime with its store and upstream, listeners for the protocols
// of caches, and what their connections share. One object owns it; its functions block and belong
// to one thread, but `reload`.
#pragma once

#include "messages/error.hpp"
#include "runtime/handle/runtime.hpp"
#include "runtime/server/blocking_tasks.hpp"
#include "runtime/server/connection/listener.hpp"
#include "runtime/server/entries/change_order.hpp"
#include "runtime/server/server_context.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility> // Boost 1.74 does not include it under C++20
#include <vector>

namespace hearth::server {

class server {
public:
  /// Opens the store and listens. Errors: a store that cannot be used (a server without it would
  /// lose what it acknowledged), those of `listen_at` and `server_tls`, and of the users file.
  static expected<std::unique_ptr<server>> start(server_settings settings);
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  /// Ends all connections at once.
  ~server();

  /// Each listener's protocol and address, with the port that it got: "resp 127.0.0.1:6379".
  std::vector<std::string> addresses() const;
  /// Reads users and certificates again, for new connections and requests; from now on the limits
  /// and times of `settings` hold. On an error nothing changes.
  expected<void> reload(const server_settings& settings);
  const server_settings& settings() const noexcept { return settings_; }
  /// Checks times until `stop` is requested, then accepts no more, answers what has begun, at most
  /// for the drain's deadline, and syncs the store. Returns how many connections had to be ended.
  std::size_t run(const std::stop_token& stop);

private:
  explicit server(server_settings settings);
  expected<void> open();
  void open_streams();
  expected<void> listen();
  expected<void> set_users();
  expected<const listener_settings*> guarded_listener() const;
  expected<void> replace_default_user(const std::string& password);
  identity_ptr anonymous_of(const listener_settings& settings) const;
  std::unique_ptr<session> make_session(const listener_settings& at, session_host& host);
  expected<entry_space> entries_of(const identity& who, unsigned database);
  expected<cache> open_cache(const std::string& name_space, unsigned database);
  expected<void> require_password(const std::string& password);
  std::string metrics_page();
  std::string status_page_json();
  std::string info_text();
  std::size_t drain();

  const server_settings settings_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  runtime runtime_;
  std::shared_ptr<change_order> order_ = std::make_shared<change_order>();
  server_counters counters_;
  // Limits and times that held once: a request may still use them.
  struct followed {
    limit_settings limits;
    hold_settings hold;
    friend bool operator==(const followed&, const followed&) = default;
  };
  std::list<followed> followed_;
  std::unique_ptr<authenticator> users_;
  std::mutex users_mutex_;                 // SIGHUP and CONFIG SET come from two threads
  std::optional<user_entry> default_user_; // by CONFIG SET requirepass
  std::optional<blocking_tasks> blocking_;
  std::optional<blocking_tasks> stream_changes_; // a list of the store does not hold them up
  std::optional<server_context> context_;
  std::vector<std::shared_ptr<listener>> listeners_;
  std::optional<io_threads> threads_; // the last member: its threads use the others
};

} // namespace hearth::server
