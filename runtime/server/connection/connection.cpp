#include "runtime/server/connection/connection.hpp"

#include "runtime/server/connection/io_threads.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace hearth::server {
namespace {

// A peer that sends or takes fewer bytes in `limits.request_time` is too slow.
constexpr std::uint64_t slow_bytes = 64u << 10;
// How long and for how many bytes the end of a connection waits for its peer to read the last
// reply: closed at once, bytes that nobody read would make the peer's system drop it.
constexpr std::chrono::seconds linger_time{2};
constexpr std::uint64_t linger_bytes = 1u << 20;
// How many bytes are written at once while the peer is slow: each time it has some time anew.
constexpr std::size_t written_at_once = 256u << 10;
// After so many bytes of large values the actors run at once.
constexpr std::uint64_t loaded_at_once = 1u << 20;
// After so many writes in a row other connections get their turn.
constexpr int writes_in_turn = 16;

// The next bytes to write, behind those that were written.
std::vector<std::string_view> next_pieces(const std::vector<std::string_view>& pieces,
                                          std::size_t written) {
  std::vector<std::string_view> next;
  std::size_t room = written_at_once;
  for (const auto piece : pieces) {
    const auto skipped = std::min(written, piece.size());
    written -= skipped;
    const auto part = piece.substr(skipped, room);
    if (part.empty()) continue;
    next.push_back(part);
    room -= part.size();
  }
  return next;
}

} // namespace

connection::connection(boost::asio::io_context& loop, std::unique_ptr<stream> bytes, origin from,
                       server_context& context)
    : loop_(loop)
    , bytes_(std::move(bytes))
    , from_(std::move(from))
    , context_(context)
    , output_(context.counters.sending_bytes)
    , sending_(context.counters.sending_bytes)
    , waits_since_(clock::now()) {}

std::shared_ptr<connection> connection::self() {
  return std::static_pointer_cast<connection>(shared_from_this());
}

void connection::start(const session_maker& make, ended_callback ended) {
  ended_ = std::move(ended);
  bytes_->begin([me = self(), make](const stream::error_code& why) {
    if (why && !me->has_ended_)
      me->context_.write_log(log_level::debug,
                             "no connection with " + me->from_.peer + ": " + why.message());
    if (why || me->has_ended_) return me->end();
    if (me->from_.has_certificate_users) me->take_certificate();
    me->session_ = make(*me);
    me->go_on();
  });
}

// The client is the user that its certificate names, without further credentials.
void connection::take_certificate() {
  const auto name = bytes_->peer_name();
  auto user = context_.users.user_named(name);
  if (!user)
    return context_.write_log(log_level::warning,
                              "the certificate of " + from_.peer + " names no user");
  from_.anonymous = std::move(user);
  ++context_.counters.credentials_right;
}

void connection::post(std::function<void()> task) {
  {
    const std::lock_guard lock(posted_mutex_);
    posted_.push_back(std::move(task));
    if (posted_.size() != 1) return; // it runs with the first one
  }
  boost::asio::post(loop_, [weak = std::weak_ptr(self())] {
    if (const auto living = weak.lock()) living->run_posted();
  });
}

// The replies of answers that have come together are written together.
void connection::run_posted() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(posted_mutex_);
    tasks.swap(posted_);
  }
  is_going_on_ = true; // `resume` waits for the last one
  for (auto& task : tasks)
    if (!has_ended_) task();
  is_going_on_ = false;
  go_on();
}

void connection::post_after(std::chrono::milliseconds delay, std::function<void()> task) {
  auto timer = std::make_shared<boost::asio::steady_timer>(loop_, delay);
  timer->async_wait(
      [timer, weak = std::weak_ptr(self()), task = std::move(task)](const stream::error_code& why) {
        const auto living = weak.lock();
        if (why || !living || living->has_ended_) return;
        task();
        living->go_on();
      });
}

void connection::resume() { go_on(); }

void connection::go_on() {
  if (has_ended_ || std::exchange(is_going_on_, true)) return;
  write_output();
  read_next();
  is_going_on_ = false;
  // Messages that promote values to memory keep them until the actors run.
  if (std::exchange(loaded_bytes_, 0) >= loaded_at_once)
    io_threads::run_actors_now();
  else
    io_threads::run_actors_soon();
}

// --- reading -----------------------------------------------------------------------------------

void connection::read_next() {
  if (has_ended_ || is_reading_ || closes_ || has_all_input_ || !session_ || !session_->is_ready())
    return;
  is_reading_ = true;
  bytes_->read(session_->room(), [me = self()](const stream::error_code& why, std::size_t count) {
    me->is_reading_ = false;
    if (why == boost::asio::error::eof) return me->note_end_of_input();
    if (why || count == 0) return me->end();
    me->note_read(count);
  });
}

void connection::note_read(std::size_t count) {
  if (has_ended_) return;
  if (session_->is_idle()) waits_since_ = clock::now(), bytes_since_ = 0;
  bytes_since_ += count;
  if (bytes_since_ >= slow_bytes) waits_since_ = clock::now(), bytes_since_ = 0;
  context_.counters.bytes_in.fetch_add(count, std::memory_order_relaxed);
  session_->received(count);
  if (session_->is_idle()) waits_since_ = clock::now();
  go_on();
}

// Replies that the peer still reads are sent.
void connection::note_end_of_input() {
  has_all_input_ = true;
  go_on();
}

// --- writing -----------------------------------------------------------------------------------

void connection::write_output() {
  for (int round = 0; !is_writing_ && !has_ended_ && !output_.is_empty(); ++round) {
    if (round == writes_in_turn) return post([] {});
    swap(output_, sending_);
    stream::error_code why;
    const auto pieces = sending_.pieces();
    const auto written = bytes_->try_write(pieces, why);
    if (why) return end();
    if (written < sending_.size()) return write_rest(written);
    note_written(written);
  }
  if (has_all_input_ && !session_->will_reply()) closes_ = true;
  if (closes_ && !is_writing_ && !has_ended_) linger();
}

void connection::write_rest(std::size_t written) {
  is_writing_ = true;
  waits_since_ = clock::now();
  bytes_since_ = 0;
  bytes_->write(next_pieces(sending_.pieces(), written),
                [me = self(), written](const stream::error_code& why, std::size_t count) {
                  me->is_writing_ = false;
                  if (why) return me->end();
                  if (me->has_ended_) return;
                  if (written + count < me->sending_.size()) return me->write_rest(written + count);
                  me->note_written(me->sending_.size());
                  me->go_on();
                });
}

void connection::note_written(std::size_t count) {
  context_.counters.bytes_out.fetch_add(count, std::memory_order_relaxed);
  sending_.clear();
  waits_since_ = clock::now();
  session_->sent();
}

// --- the end -----------------------------------------------------------------------------------

void connection::drain() {
  if (!has_ended_ && session_) session_->drain();
  if (!session_) return end();
  go_on();
}

void connection::linger() {
  if (std::exchange(is_lingering_, true)) return;
  bytes_->end_output();
  if (session_) session_->output_ended();
  post_after(std::chrono::duration_cast<std::chrono::milliseconds>(linger_time), [this] { end(); });
  struct rest {
    std::array<char, 16u << 10> room;
    std::uint64_t bytes = 0;
  };
  const auto dropped = std::make_shared<rest>();
  const auto next = std::make_shared<std::function<void()>>();
  *next = [me = self(), dropped, weak = std::weak_ptr(next)] {
    me->is_reading_ = true;
    me->bytes_->read(dropped->room, [me, dropped, again = weak.lock()](
                                        const stream::error_code& why, std::size_t count) {
      dropped->bytes += count;
      if (why || count == 0 || dropped->bytes > linger_bytes) return me->end();
      if (!me->has_ended_) (*again)();
    });
  };
  if (!is_reading_) (*next)();
}

void connection::end() {
  if (std::exchange(has_ended_, true)) return;
  bytes_->close();
  // Handlers of this connection may be running: its parts go with their last one.
  boost::asio::post(loop_, [me = self()] { me->session_ = nullptr; });
  if (ended_) std::exchange(ended_, nullptr)(*this);
}

bool connection::waits_for_peer() const {
  return is_writing_ || !session_ ||
         (!has_all_input_ && session_->is_ready() && !session_->is_idle());
}

void connection::check_time(clock::time_point now) {
  if (has_ended_) return;
  const auto& limits = context_.limits();
  const bool is_idle = session_ && session_->is_idle() && !is_writing_;
  const auto limit = is_idle ? limits.idle_time : limits.request_time;
  if (limit.count() == 0 || (!is_idle && !waits_for_peer())) return;
  if (now - waits_since_ > limit) end();
}

} // namespace hearth::server
