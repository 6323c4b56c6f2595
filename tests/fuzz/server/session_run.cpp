#include "tests/fuzz/server/session_run.hpp"

#include "runtime/server/status/status_page.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

// The page's text is made by the build of its room.
std::string_view hearth::server::status_page_html() noexcept { return "<!DOCTYPE html>"; }

namespace hearth::fuzz {
namespace {

using namespace server;

class fuzz_host final : public session_host {
public:
  explicit fuzz_host(const session_input& input)
      : holds_misses_(input.holds_misses) {
    if (!input.is_anonymous) return;
    identity who;
    who.user = "anonymous";
    who.is_anonymous = true;
    who.role = input.is_reader ? user_role::reader : user_role::writer;
    if (input.is_of_namespace) who.name_space = "pull";
    if (input.ignores_refused) who.refused = refused_writes::ignore;
    anonymous_ = std::make_shared<const identity>(std::move(who));
  }

  output_queue& output() override { return output_; }
  void resume() override {}
  void close_after_output() override { is_closed = true; }
  void post(std::function<void()> task) override { posted_.push_back(std::move(task)); }
  void post_after(std::chrono::milliseconds, std::function<void()> task) override {
    timers_.push_back(std::move(task));
  }
  const std::string& peer() const override { return peer_; }
  const identity_ptr& anonymous() const override { return anonymous_; }
  bool holds_misses() const override { return holds_misses_; }

  void run_posted() {
    while (!posted_.empty()) {
      const auto task = std::move(posted_.front());
      posted_.pop_front();
      if (!has_ended_) task();
    }
  }
  void run_timers() {
    for (const auto& task : std::exchange(timers_, {}))
      task();
  }
  // Nothing that is posted runs any more, as on a connection that is gone.
  void end() {
    has_ended_ = true;
    timers_.clear();
  }
  std::string take_output() {
    std::string all;
    for (const auto piece : output_.pieces())
      all += piece;
    output_.clear();
    return all;
  }

  bool is_closed = false;

private:
  const std::string peer_ = "192.0.2.1";
  const bool holds_misses_;
  identity_ptr anonymous_;
  output_queue output_;
  bool has_ended_ = false;
  std::deque<std::function<void()>> posted_;
  std::vector<std::function<void()>> timers_;
};

user_list some_users() {
  user_list users;
  for (const auto& [name, role] : {std::pair("reader", user_role::reader),
                                   {"writer", user_role::writer},
                                   {"admin", user_role::admin}}) {
    user_entry one;
    one.who.user = name;
    one.who.role = role;
    users.push_back(std::move(one));
  }
  return users;
}

class session_run {
public:
  session_run(const session_input& input, const make_session& make, bool is_late)
      : input_(input)
      , is_late_(is_late)
      , entries_(memory_entries::begin(is_late))
      , host_(std::make_shared<fuzz_host>(input)) {
    settings_.limits.value_bytes = 20'000;
    settings_.limits.header_bytes = 2'000;
    settings_.limits.output_bytes = 4'000;
    settings_.limits.pipelined_writes = 4;
    session_ = make(*host_, context_);
  }
  session_run(const session_run&) = delete;
  session_run& operator=(const session_run&) = delete;
  ~session_run() = default;

  std::string replies() {
    std::size_t fed = 0;
    while (!host_->is_closed && (fed < input_.bytes.size() || is_busy())) {
      const bool feeds = fed < input_.bytes.size() && session_->is_ready();
      // Late answers come now and then between two pieces.
      if (feeds && !(is_late_ && is_busy() && next_choice(3) == 0))
        fed += feed(fed);
      else if (!go_on()) {
        require(context_.streams->waiting() != 0, "a request has no answer");
        break; // it waits for what another client would add
      }
    }
    while (go_on()) {
    }
    if (host_->is_closed) text_ += "(closed)";
    return std::move(text_);
  }

  void end() {
    const bool was_idle = session_->is_idle();
    context_.is_draining = true;
    session_->drain();
    while (go_on()) {
    }
    require(host_->is_closed || !was_idle, "an idle connection does not end");
    if (input_.pattern % 2 == 0) host_->run_timers();
    host_->end();
    session_.reset();
    while (entries_.owed() != 0)
      entries_.deliver(0);
    host_->run_posted();
    host_->take_output();
    require(entries_.leases.empty(), "a lease is left");
    require(counters_.receiving_bytes == 0 && counters_.sending_bytes == 0, "bytes stay counted");
    require(counters_.held_now == 0 && counters_.holders_now == 0, "a holder stays counted");
  }

private:
  bool is_busy() const { return entries_.owed() != 0 || !host_->output().is_empty(); }

  std::size_t feed(std::size_t from) {
    const auto room = session_->room();
    require(!room.empty(), "no room for the next byte");
    const auto count =
        std::min({room.size(), is_late_ ? input_.piece : room.size(), input_.bytes.size() - from});
    std::copy_n(input_.bytes.data() + from, count, room.data());
    session_->received(count);
    host_->run_posted();
    return count;
  }

  // Gives an answer that is owed, or sends the output. Returns false when there is neither.
  bool go_on() {
    if (const auto owed = entries_.owed(); owed != 0) {
      entries_.deliver(next_choice(owed));
      host_->run_posted();
      return true;
    }
    if (host_->output().is_empty()) return false;
    text_ += host_->take_output();
    session_->sent();
    host_->run_posted();
    return true;
  }

  // A number below `count`, by the input's pattern.
  std::size_t next_choice(std::size_t count) {
    choice_ = choice_ * 6364136223846793005u + input_.pattern * 2 + 1;
    return static_cast<std::size_t>(choice_ >> 33) % count;
  }

  const session_input& input_;
  const bool is_late_;
  memory_entries& entries_;
  server_settings settings_;
  server_counters counters_;
  authenticator users_{some_users()};
  server_context context_{
      .settings = settings_,
      .users = users_,
      .counters = counters_,
      .entries_of = [](const identity& who, unsigned database) -> expected<entry_space> {
        return memory_entries::open(who, database);
      },
      .require_password = [](const std::string&) -> expected<void> { return {}; },
      .run_blocking = [this](std::function<void()> task) { entries_.call(std::move(task)); },
      .metrics_page = [] { return std::string("hearth_up 1\n"); },
      .status_json = [] { return std::string("{}"); },
      .info_text = [] { return std::string("# Server\r\n"); },
  };
  std::shared_ptr<fuzz_host> host_;
  std::unique_ptr<session> session_;
  std::string text_;
  std::uint64_t choice_ = 0;
};

} // namespace

session_input take_session_input(const std::uint8_t* data, std::size_t size) {
  session_input input;
  input.bytes = text_of(data, size);
  input.piece = 1 + take_byte(input.bytes) % 64;
  input.pattern = take_byte(input.bytes);
  const auto flags = take_byte(input.bytes);
  input.is_anonymous = (flags & 1) == 0;
  input.is_reader = (flags & 2) != 0;
  input.holds_misses = (flags & 4) != 0;
  input.is_of_namespace = (flags & 8) != 0;
  input.ignores_refused = (flags & 16) != 0;
  return input;
}

std::string run_session(const session_input& input, const make_session& make) {
  std::string text[2];
  for (const bool is_late : {false, true}) {
    session_run run(input, make, is_late);
    text[is_late] = run.replies();
    run.end();
  }
  if (text[0] != text[1])
    std::fprintf(stderr, "at once: %s\nlate: %s\n", text[0].c_str(), text[1].c_str());
  require(text[0] == text[1], "the replies depend on when bytes and answers come");
  return std::move(text[0]);
}

} // namespace hearth::fuzz
