// What all connections of a server share. Set up before the first connection; any thread.
#pragma once

#include "runtime/server/access/authenticator.hpp"
#include "runtime/server/connection/output_queue.hpp"
#include "runtime/server/entries/entry_space.hpp"
#include "runtime/server/entries/unix_time.hpp"
#include "runtime/server/settings/server_settings.hpp"
#include "runtime/server/status/server_counters.hpp"
#include "runtime/server/streams/stream_log.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hearth::server {

struct server_context {
  const server_settings& settings;
  authenticator& users;
  server_counters& counters;
  /// The entries that an identity sees in a numbered database (0 to 15). Errors: those of opening a
  /// cache.
  std::function<expected<entry_space>(const identity&, unsigned database)> entries_of;
  /// From now on clients need this password of the user `default`, who may what clients without
  /// credentials could; empty: they need none again. Blocks: it hashes. Errors: `invalid_argument`
  /// where no listener lets such clients in, or two of them different ones.
  std::function<expected<void>(const std::string& password)> require_password;
  /// Runs `task` on a thread that may block (a list of the store, a page of metrics). Any thread.
  std::function<void(std::function<void()> task)> run_blocking;
  /// The pages of the HTTP listener; they block, so they are made by `run_blocking`.
  std::function<std::string()> metrics_page; ///< Prometheus' text
  std::function<std::string()> status_json;  ///< what the page at `/` asks for
  /// INFO's text for the Redis protocol; it blocks too.
  std::function<std::string()> info_text;
  /// The streams of the Redis protocol; by default in memory.
  std::shared_ptr<stream_log> streams =
      std::make_shared<stream_log>(stream_settings{.file = {}, .now_ms = unix_time_ms});
  log_callback log{};         ///< empty: no log
  bool logs_requests = false; ///< each of them, at level debug
  std::atomic<bool> is_draining{false};
  std::atomic<std::uint64_t> last_client_id{0}; ///< of the Redis protocol: CLIENT ID

  /// The limits and times of now: `follow` replaces them.
  const limit_settings& limits() const noexcept { return *limits_now.load(); }
  const hold_settings& hold() const noexcept { return *hold_now.load(); }
  /// From now on these hold; they live as long as the context.
  void follow(const limit_settings& limits, const hold_settings& hold) noexcept {
    limits_now = &limits;
    hold_now = &hold;
  }

  /// Counts a request and logs it.
  void note(const noted_request& one, space_counters& in, std::string_view peer,
            std::string_view user);
  /// Counts the outcome of a check of credentials, and logs wrong ones.
  void note_credentials(const expected<identity_ptr>& who, std::string_view peer);
  void write_log(log_level level, std::string_view text) const {
    if (log) log(level, text);
  }

  /// Whether a value of so many bytes can be sent, within the limit of all that are being sent.
  bool has_room_to_send(std::uint64_t bytes) const noexcept {
    return bytes < output_queue::own_piece_bytes ||
           counters.sending_bytes.load(std::memory_order_relaxed) + bytes <= limits().sending_bytes;
  }

  // Of `limits`, `hold` and `follow`.
  std::atomic<const limit_settings*> limits_now{&settings.limits};
  std::atomic<const hold_settings*> hold_now{&settings.hold};
};

} // namespace hearth::server
