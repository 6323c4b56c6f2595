// One connection of the Redis protocol: parses commands, runs them, and answers in their order.
//
// Writes that follow each other wait for the store together; every other command waits until the
// writes before it are done. On the thread of its connection.
#pragma once

#include "runtime/server/connection/held_leases.hpp"
#include "runtime/server/connection/receiving_quota.hpp"
#include "runtime/server/connection/session.hpp"
#include "runtime/server/resp/resp_reply.hpp"
#include "runtime/server/server_context.hpp"
#include "storage/resp/resp_parser.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

struct resp_command;

/// The words of a command; the first one is its name as it was sent.
using resp_words = std::vector<std::string>;

/// The databases of a server: 0 to 15.
inline constexpr unsigned database_count = 16;

class resp_session final : public session {
public:
  resp_session(session_host& host, server_context& context);
  ~resp_session() override;

  std::span<char> room() override;
  void received(std::size_t count) override;
  bool is_ready() const override;
  void sent() override;
  void output_ended() override;
  void drain() override;
  bool is_idle() const override;
  bool will_reply() const override;

  // --- for the commands ---

  resp_reply& reply() noexcept { return reply_; }
  session_host& host() noexcept { return host_; }
  server_context& context() noexcept { return context_; }
  const entry_space& entries() const noexcept { return *entries_; }
  held_leases& leases() noexcept { return *leases_; }
  const identity_ptr& who() const noexcept { return who_; }
  unsigned database() const noexcept { return database_; }
  std::uint64_t id() const noexcept { return id_; }
  std::string& client_name() noexcept { return client_name_; }
  /// Whether bytes behind this command have been received.
  bool has_more_input() const noexcept { return !parser_.is_between_values(); }

  /// Acts for another user, or in another database. Replies with an error if that cannot be.
  bool become(identity_ptr who, unsigned database);
  /// Back to how the connection began.
  void reset();

  /// Until `end_waiting` with the same number, which goes on behind the reply, no other command
  /// runs. Both on the connection's thread.
  std::uint64_t begin_waiting();
  void end_waiting(std::uint64_t call);
  /// The same for a command that waits for what another client does: as long as it takes, so the
  /// connection counts as idle meanwhile, and a drain ends it.
  /// `what` is kept until the command or the connection ends.
  std::uint64_t begin_blocking(std::shared_ptr<void> what);
  /// Keeps a place for a reply. Writes behind it are begun, other commands wait for it.
  std::uint64_t begin_turn();
  void fill_turn(std::uint64_t number, std::string reply);
  /// An error of a command that runs beside the writes before it.
  void error_in_turn(std::string_view text) { fill_turn(begin_turn(), error_text(text)); }

  /// The command waits until the answer has come and `next` has written the reply.
  template <class T, class Next>
  void reply_later(future<T> asked, Next next) {
    if (asked.ready()) return next(asked.get());
    host_.when_answered(std::move(asked), [this, call = begin_waiting(), next](expected<T> answer) {
      next(std::move(answer));
      end_waiting(call);
    });
  }
  /// The reply, which `next` returns, comes in its turn.
  template <class T, class Next>
  void reply_in_turn(future<T> asked, Next next) {
    host_.when_answered(std::move(asked), [this, number = begin_turn(), next](expected<T> answer) {
      fill_turn(number, next(std::move(answer)));
    });
  }
  /// Runs `work` on a thread that may block, then `next` on this one.
  void reply_after(std::function<void()> work, std::function<void()> next);

  /// `made_in`: how long the value that is sent took to make; zero: it is not known, or only a part
  /// is sent.
  void note_hit(std::uint64_t bytes, std::chrono::nanoseconds made_in = {}) noexcept;
  void note_miss() noexcept;
  void note_write(std::uint64_t bytes) noexcept;
  void note_refused() noexcept;
  void note_failed() noexcept;
  /// Ends the connection behind the replies.
  void quit();

private:
  // The room that a large command takes while it is received, and until it is answered.
  using taken_room = std::shared_ptr<receiving_quota>;

  struct turn {
    std::string text;
    bool is_filled = false;
    taken_room room;
  };

  bool count_received(std::size_t count);

  void run_received();
  bool may_run_next() const;
  void run_words();
  void end_http();
  void run(const resp_command& command, const resp_words& words);
  bool refuses(const resp_command& command, const resp_words& words);
  void go_on();
  void note(request_outcome outcome, std::uint64_t in, std::uint64_t out,
            std::chrono::nanoseconds made_in = {}) noexcept;

  session_host& host_;
  server_context& context_;
  resp_reply reply_;
  storage::resp_parser parser_;
  identity_ptr who_;
  unsigned database_ = 0;
  std::uint64_t id_;
  std::string client_name_;
  std::optional<entry_space> entries_;
  std::unique_ptr<held_leases> leases_;
  space_counters* counts_ = nullptr;

  std::uint64_t received_ = 0; // bytes since the last whole command
  taken_room receiving_;       // of a command that is being received; null: a small one
  taken_room running_;         // of the command that runs
  taken_room waiting_;         // of the command that waits for its answer
  bool wants_bytes_ = true;    // the parser has no complete command
  bool is_waiting_ = false;    // a command waits for its answer
  bool is_blocked_ = false;    // it waits for another client
  std::shared_ptr<void> blocked_on_;
  bool is_running_ = false; // in `run_received`
  bool has_ended_ = false;
  resp_words words_;                  // of the command that runs
  std::optional<resp_words> put_off_; // a command that waits for the writes before it
  std::deque<turn> turns_;
  std::uint64_t first_turn_ = 0; // the number of the first of `turns_`
  std::uint64_t call_ = 0;
  request_kind kind_ = request_kind::other; // of the command that runs
  std::chrono::steady_clock::time_point began_;
};

} // namespace hearth::server
