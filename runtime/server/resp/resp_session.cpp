#include "runtime/server/resp/resp_session.hpp"

#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace hearth::server {
namespace {

// A command that takes more than this is counted while it is received.
constexpr std::uint64_t large_bytes = 64u << 10;

// An item takes so many bytes at least: `$0`, and two ends of lines.
constexpr std::uint64_t least_item_bytes = 6;

storage::resp_limits limits_of(const limit_settings& settings) {
  storage::resp_limits limits;
  // A command has a value and a few words; MSET has many.
  limits.bytes = settings.value_bytes + (std::uint64_t{1} << 20);
  limits.bulk_bytes = settings.value_bytes;
  limits.line_bytes = 64u << 10; // of inline commands, as Redis
  limits.items = 1u << 16;
  limits.depth = 1;
  limits.eager_bytes = large_bytes;
  return limits;
}

// The memory of a command's words that a connection keeps for the next one.
constexpr std::size_t kept_words_bytes = 8u << 10;

std::size_t memory_of(const resp_words& words) {
  std::size_t bytes = words.capacity() * sizeof(std::string);
  for (const auto& word : words)
    bytes += word.capacity();
  return bytes;
}

// Whether a request of HTTP begins with this word, or its line of the host does. A page that a
// browser shows could send one here, with commands in its body.
bool is_of_http(std::string_view word) {
  return equal_ignoring_case(word, "post") || equal_ignoring_case(word, "host:");
}

// The error of an unknown command, as Redis words it.
std::string unknown_command(const resp_words& words) {
  constexpr std::size_t most_shown = 128;
  std::string text =
      "ERR unknown command '" + words[0].substr(0, most_shown) + "', with args beginning with: ";
  for (std::size_t i = 1; i < words.size() && text.size() < 2 * most_shown; ++i)
    text += "'" + words[i].substr(0, most_shown) + "' ";
  return text;
}

std::string wrong_arity(const resp_command& command) {
  return "ERR wrong number of arguments for '" + std::string(command.name) + "' command";
}

bool has_right_arity(const resp_command& command, std::size_t words) {
  const auto count = static_cast<int>(std::min<std::size_t>(words, 1u << 30));
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
}

// Whether a command of so many words may run while the writes before it wait for the store.
bool runs_beside(const resp_command& command, std::size_t words) {
  if (command.turn == command_turn::alone || !has_right_arity(command, words)) return false;
  return command.turn == command_turn::write ||
         words == static_cast<std::size_t>(std::abs(command.arity));
}

} // namespace

resp_session::resp_session(session_host& host, server_context& context)
    : host_(host)
    , context_(context)
    , reply_(host.output())
    , parser_(limits_of(context.limits()), storage::resp_side::client)
    , id_(++context.last_client_id) {
  if (host_.anonymous()) become(host_.anonymous(), 0);
}

resp_session::~resp_session() = default;

bool resp_session::become(identity_ptr who, unsigned database) {
  auto entries = context_.entries_of(*who, database);
  if (!entries) {
    reply_.error("ERR " + entries.error().text());
    return false;
  }
  who_ = std::move(who);
  database_ = database;
  entries_ = entries->without_http_writes();
  leases_ = std::make_unique<held_leases>(host_, context_, *entries_);
  counts_ = &context_.counters.space(who_->name_space);
  return true;
}

void resp_session::reset() {
  client_name_.clear();
  reply_.set_version(2);
  if (host_.anonymous()) {
    become(host_.anonymous(), 0);
  } else {
    who_ = nullptr;
    leases_ = nullptr;
    entries_.reset();
  }
}

// --- bytes in ----------------------------------------------------------------------------------

std::span<char> resp_session::room() { return parser_.room(); }

// Counts the bytes of a large command. Returns false, and ends the connection, above the limit: the
// rest of the command could not be skipped without receiving it.
bool resp_session::count_received(std::size_t count) {
  received_ += count;
  const auto items = std::min(parser_.items_announced(), received_ / least_item_bytes);
  const auto cost =
      std::max(received_, parser_.bulk_memory()) + items * sizeof(storage::resp_value);
  if (cost <= large_bytes) return true;
  const auto limit = context_.limits().receiving_bytes;
  if (!receiving_)
    receiving_ = std::make_shared<receiving_quota>(context_.counters.receiving_bytes, limit);
  if (receiving_->grow_to(cost)) return true;
  reply_.error("OOM too many large values are being received: try later");
  quit();
  return false;
}

void resp_session::received(std::size_t count) {
  parser_.filled(count);
  if (!count_received(count)) return;
  wants_bytes_ = false;
  run_received();
}

bool resp_session::is_ready() const { return wants_bytes_ && !has_ended_ && !put_off_; }

void resp_session::sent() { run_received(); }

bool resp_session::is_idle() const {
  return (!is_waiting_ || is_blocked_) && turns_.empty() && !put_off_ &&
         parser_.is_between_values();
}

bool resp_session::will_reply() const {
  return !has_ended_ && !is_blocked_ &&
         (is_waiting_ || !turns_.empty() || put_off_ || !wants_bytes_);
}

void resp_session::output_ended() {
  if (leases_) leases_->abandon_all();
}

void resp_session::drain() {
  if (is_idle()) quit();
}

void resp_session::quit() {
  has_ended_ = true;
  blocked_on_ = nullptr;
  host_.close_after_output();
}

bool resp_session::may_run_next() const {
  const auto& limits = context_.limits();
  return !has_ended_ && !is_waiting_ && turns_.size() < limits.pipelined_writes &&
         host_.output().size() < limits.output_bytes;
}

void resp_session::run_received() {
  if (std::exchange(is_running_, true)) return;
  while (may_run_next()) {
    if (put_off_) {
      if (!turns_.empty()) break;
      words_ = *std::exchange(put_off_, std::nullopt);
      run_words();
      continue;
    }
    if (wants_bytes_) break;
    const auto outcome = parser_.next_request(words_);
    if (outcome == storage::resp_parser::outcome::more) {
      wants_bytes_ = true;
    } else if (outcome == storage::resp_parser::outcome::broken) {
      if (!turns_.empty()) break; // their replies come first
      context_.counters.protocol_errors.fetch_add(1, std::memory_order_relaxed);
      reply_.error(std::string("ERR Protocol error: ") + parser_.problem());
      quit();
    } else {
      running_ = std::exchange(receiving_, nullptr);
      received_ = 0;
      if (!words_.empty()) run_words();
      if (memory_of(words_) > kept_words_bytes) words_ = {};
      running_ = nullptr;
    }
  }
  // One that waits for another client is read on, or its end would not be noticed.
  if (is_blocked_ && !wants_bytes_ && parser_.is_between_values())
    wants_bytes_ = parser_.next_request(words_) == storage::resp_parser::outcome::more;
  is_running_ = false;
  if (context_.is_draining.load(std::memory_order_relaxed) && !has_ended_ && is_idle()) quit();
}

void resp_session::run_words() {
  began_ = std::chrono::steady_clock::now();
  const auto* const command = find_command(words_[0]);
  if (!turns_.empty() && !(command && runs_beside(*command, words_.size()))) {
    put_off_ = std::move(words_);
    return;
  }
  if (is_of_http(words_[0])) return end_http();
  if (!command) return reply_.error(unknown_command(words_));
  kind_ = command->kind;
  run(*command, words_);
}

void resp_session::end_http() {
  context_.counters.protocol_errors.fetch_add(1, std::memory_order_relaxed);
  context_.write_log(log_level::warning, "a request of HTTP from " + host_.peer() +
                                             " to a listener of the Redis protocol: its "
                                             "connection is closed");
  quit();
}

void resp_session::run(const resp_command& command, const resp_words& words) {
  if (refuses(command, words)) return;
  // The parser's limit is that of all words together.
  const auto most = context_.limits().value_bytes;
  if (std::any_of(words.begin(), words.end(), [&](const auto& one) { return one.size() > most; })) {
    note_refused();
    return error_in_turn(too_long_value);
  }
  command.run(*this, words);
}

bool resp_session::refuses(const resp_command& command, const resp_words& words) {
  if (!has_right_arity(command, words.size())) {
    reply_.error(wrong_arity(command));
    return true;
  }
  if (!command.needs_user) return false;
  if (!who_) {
    reply_.error("NOAUTH Authentication required.");
    return true;
  }
  if (who_->role >= command.role) return false;
  note_refused();
  if (command.when_ignored && who_->refused == refused_writes::ignore) {
    command.when_ignored(*this, words);
    return true;
  }
  reply_.error("NOPERM this user has no permissions to run the '" + std::string(command.name) +
               "' command");
  return true;
}

// --- answers -----------------------------------------------------------------------------------

std::uint64_t resp_session::begin_waiting() {
  is_waiting_ = true;
  waiting_ = running_;
  return ++call_;
}

void resp_session::end_waiting(std::uint64_t call) {
  if (call != call_) return;
  is_waiting_ = is_blocked_ = false;
  waiting_ = nullptr;
  blocked_on_ = nullptr;
  go_on();
}

std::uint64_t resp_session::begin_blocking(std::shared_ptr<void> what) {
  const auto call = begin_waiting();
  is_blocked_ = true;
  blocked_on_ = std::move(what);
  return call;
}

std::uint64_t resp_session::begin_turn() {
  turns_.emplace_back().room = running_;
  return first_turn_ + turns_.size() - 1;
}

void resp_session::fill_turn(std::uint64_t number, std::string reply) {
  auto& filled = turns_[number - first_turn_];
  filled.text = std::move(reply);
  filled.is_filled = true;
  while (!turns_.empty() && turns_.front().is_filled) {
    reply_.raw(turns_.front().text);
    turns_.pop_front();
    ++first_turn_;
  }
  go_on();
}

void resp_session::go_on() {
  if (is_running_) return;
  run_received();
  host_.resume();
}

void resp_session::reply_after(std::function<void()> work, std::function<void()> next) {
  context_.run_blocking([weak = host_.weak_from_this(), work = std::move(work),
                         finish = [this, call = begin_waiting(), next = std::move(next)] {
                           next();
                           end_waiting(call);
                         }] {
    work();
    if (const auto living = weak.lock()) living->post(finish);
  });
}

// --- counts ------------------------------------------------------------------------------------

void resp_session::note(request_outcome outcome, std::uint64_t in, std::uint64_t out,
                        std::chrono::nanoseconds made_in) noexcept {
  if (!counts_) return;
  context_.note(
      {protocol::resp, kind_, outcome, in, out, std::chrono::steady_clock::now() - began_, made_in},
      *counts_, host_.peer(), who_->user);
}

void resp_session::note_hit(std::uint64_t bytes, std::chrono::nanoseconds made_in) noexcept {
  note(request_outcome::hit, 0, bytes, made_in);
}
void resp_session::note_miss() noexcept { note(request_outcome::miss, 0, 0); }
void resp_session::note_write(std::uint64_t bytes) noexcept {
  note(request_outcome::done, bytes, 0);
}
void resp_session::note_refused() noexcept { note(request_outcome::refused, 0, 0); }
void resp_session::note_failed() noexcept { note(request_outcome::failed, 0, 0); }

} // namespace hearth::server
