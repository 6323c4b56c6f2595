#include "runtime/net/redis_lane.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace hearth::net {
namespace {

using actors::remote_failure;
using actors::remote_reply;

} // namespace

redis_lane::redis_lane(std::shared_ptr<lane_context> context)
    : context_(std::move(context))
    , lookup_(context_->resolve)
    , timer_(*context_->loop) {}

void redis_lane::answer(remote_command& command, const connection_problem& why) const {
  remote_reply reply;
  reply.failure = why.failure;
  reply.problem = describe(context_->endpoint) + ": " + why.text;
  command.answer(std::move(reply));
}

void redis_lane::add(remote_command command, time_point now) {
  if (now >= command.deadline) return answer(command, timeout_after(command.allowed));
  if (!waiting_.empty() && waiting_bytes_ + command.bytes > context_->endpoint.max_waiting_bytes)
    return answer(command, {remote_failure::refused, "too much waits to be sent"});
  waiting_bytes_ += command.bytes;
  wake_at(command.deadline);
  waiting_.push_back(std::move(command));
}

void redis_lane::flush() {
  if (waiting_.empty()) return;
  if (!connection_) return connect();
  if (!connection_->is_ready()) return;
  send_unsent();
  connection_->flush();
}

void redis_lane::send_unsent() {
  for (; sent_ < waiting_.size(); ++sent_)
    connection_->add(std::move(waiting_[sent_].arguments));
}

void redis_lane::connect() {
  connection_ = std::make_shared<redis_connection>(
      *context_->loop, context_->endpoint, context_->tls, static_cast<connection_owner&>(*this));
  connect_began_ = remote_command::clock::now();
  connect_deadline_ = connect_began_ + context_->endpoint.connect_deadline;
  wake_at(connect_deadline_);
  if (context_->endpoint.transport == remote_transport::unix_socket)
    connection_->start({{}, {unix_address(context_->endpoint.socket_path)}});
  else
    look_up();
}

// The first address may be the one that did not answer in the last attempt.
void redis_lane::address_record::start(redis_connection& connection, host_addresses found) {
  are_tried = true;
  auto& all = found.all;
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(failures % all.size()),
              all.end());
  connection.start(std::move(found));
}

// The connection, the lane or the loop may be destroyed before the answer comes. The next
// connection takes one that came too late: the lookup after it may take as long.
void redis_lane::look_up() {
  constexpr std::chrono::seconds longest_kept{60};
  const auto now = remote_command::clock::now();
  auto late = std::exchange(addresses_->late, std::nullopt);
  if (late && now - addresses_->came < longest_kept)
    return addresses_->start(*connection_, std::move(*late));
  const auto told = [context = std::weak_ptr(context_), connection = std::weak_ptr(connection_),
                     addresses = std::weak_ptr(addresses_)](expected<host_addresses> answer) {
    const auto alive = context.lock();
    if (!alive) return;
    boost::asio::post(*alive->loop, [connection, addresses, answer = std::move(answer)]() mutable {
      const auto asker = connection.lock();
      const auto record = addresses.lock();
      if (!record) return;
      if (asker && answer) {
        record->start(*asker, std::move(*answer));
      } else if (asker) {
        asker->fail({remote_failure::unreachable, one_line(answer.error().text())});
      } else if (answer) {
        record->late = std::move(*answer);
        record->came = remote_command::clock::now();
      }
    });
  };
  const auto& at = context_->endpoint;
  if (!lookup_.start(at.host, at.port, told))
    connection_->fail({remote_failure::unreachable, "the lookup of its name has not ended yet"});
}

void redis_lane::connection_ready() {
  connect_deadline_ = time_point::max();
  addresses_->are_tried = false;
  send_unsent();
}

void redis_lane::connection_replied(storage::resp_value reply) {
  if (sent_ == 0)
    return fail_all({remote_failure::garbage, "the server sent a reply without a command"});
  auto command = std::move(waiting_.front());
  waiting_.pop_front();
  --sent_;
  waiting_bytes_ -= command.bytes;
  auto answer = answer_of(std::move(reply));
  if (!answer.problem.empty()) answer.problem.insert(0, describe(context_->endpoint) + ": ");
  const bool is_of_replica = answer.value.is_error() && answer.value.text.starts_with("READONLY");
  command.answer(std::move(answer));
  if (is_of_replica && context_->endpoint.form == remote_form::sentinel)
    return fail_all({remote_failure::cut, "the server is no master any more"});
  is_to_leave_ = is_to_leave_ || is_of_replica;
  if (is_to_leave_ && connection_ && sent_ == 0) leave();
}

// The name may lead to another server by now, which is the master. The next command connects anew.
void redis_lane::leave() {
  is_to_leave_ = false;
  std::exchange(connection_, nullptr)->abandon();
  flush();
}

void redis_lane::connection_ended(connection_problem problem) {
  end_attempt();
  fail_all(problem);
}

// A connection has ended; if it was not open yet, the next one begins at another address.
void redis_lane::end_attempt() {
  if (std::exchange(addresses_->are_tried, false)) ++addresses_->failures;
}

void redis_lane::fail_all(const connection_problem& why) {
  if (connection_) std::exchange(connection_, nullptr)->abandon();
  is_to_leave_ = false;
  connect_deadline_ = time_point::max();
  auto failed = std::exchange(waiting_, {});
  sent_ = 0;
  waiting_bytes_ = 0;
  for (auto& command : failed)
    answer(command, why);
}

void redis_lane::close(const connection_problem& why) {
  fail_all(why);
  timer_.cancel();
  lookup_.stop();
}

void redis_lane::wake_at(time_point when) {
  if (when >= wakes_at_) return;
  wakes_at_ = when;
  timer_.expires_at(when);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) check_deadlines();
  });
}

// When this thread was busy and the timer fires late, replies may be waiting unread in the socket.
// The lane then waits as long again, once, before it declares a timeout; not for long after a stop
// of the whole process.
void redis_lane::check_deadlines() {
  constexpr std::chrono::milliseconds much{20}, longest{1'000};
  const auto now = remote_command::clock::now();
  const auto late = now - std::exchange(wakes_at_, time_point::max());
  if (late > much && !std::exchange(was_late_, true))
    return wake_at(now + std::min<time_point::duration>(late, longest));
  was_late_ = false;
  if (now >= connect_deadline_) give_up_connecting();
  drop_expired(now);
  auto next = connect_deadline_;
  for (const auto& command : waiting_)
    next = std::min(next, command.deadline);
  if (next != time_point::max()) wake_at(next);
}

// Fails the commands that have waited since the attempt began; later ones wait for the next
// attempt.
void redis_lane::give_up_connecting() {
  std::exchange(connection_, nullptr)->abandon();
  connect_deadline_ = time_point::max();
  end_attempt();
  const auto allowed = context_->endpoint.connect_deadline;
  fail_those([&](const auto& one) { return one.deadline - one.allowed <= connect_began_; },
             {remote_failure::timeout,
              "cannot connect within " + std::to_string(allowed.count()) + " ms"});
  flush();
}

// A command that passes its deadline on an open connection closes it and fails all commands of the
// lane. During connecting only that command fails: the server may just be far away.
void redis_lane::drop_expired(time_point now) {
  const auto expired = [now](const auto& command) { return command.deadline <= now; };
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), expired);
  if (first == waiting_.end()) return;
  const auto why = timeout_after(first->allowed);
  if (is_connecting())
    fail_those(expired, why);
  else
    fail_all(why);
}

// Fails the commands that `which` selects. Precondition: no command has been sent.
template <class Predicate>
void redis_lane::fail_those(Predicate which, const connection_problem& why) {
  std::deque<remote_command> kept;
  std::deque<remote_command> failed;
  for (auto& command : std::exchange(waiting_, {}))
    (which(command) ? failed : kept).push_back(std::move(command));
  waiting_ = std::move(kept);
  for (auto& command : failed) {
    waiting_bytes_ -= command.bytes;
    answer(command, why);
  }
}

} // namespace hearth::net
