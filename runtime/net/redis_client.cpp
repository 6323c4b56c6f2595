#include "runtime/net/redis_client.hpp"

#include "runtime/net/cluster/cluster_router.hpp"
#include "runtime/net/cluster/socket_loop.hpp"
#include "runtime/net/command_router.hpp"
#include "runtime/net/sentinel.hpp"
#include "runtime/net/server_lanes.hpp"
#include "runtime/os/quiet_thread.hpp"
#include "storage/fork_generation.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

namespace hearth::net {
namespace {

using actors::remote_client;
using actors::remote_failure;
using actors::remote_reply;
using clock = remote_command::clock;

constexpr std::chrono::milliseconds longest_deadline = std::chrono::hours(24);

remote_reply closed_reply() { return {remote_failure::closed, "the remote tier is shut down", {}}; }

// The state of the connections' thread. Lives until the thread, and everything that it started, has
// ended.
class redis_engine {
public:
  redis_engine(const std::shared_ptr<lane_context>& context, std::unique_ptr<command_router> router,
               side_work_maker beside)
      : context_(context)
      , loop_(*context->loop)
      , make_side_work_(std::move(beside))
      , router_(std::move(router))
      , work_(boost::asio::make_work_guard(loop_)) {}

  // Any thread. Returns false when closed, and leaves the commands unchanged.
  bool put(remote_client::lane by, std::vector<remote_command>& commands) {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    const bool has_to_be_told = inbox_.empty() && thread_ != std::this_thread::get_id();
    for (auto& command : commands)
      inbox_.emplace_back(by, std::move(command));
    if (has_to_be_told) boost::asio::post(loop_, [this] { take_inbox(); });
    return true;
  }

  // Any thread.
  void hurry(bool on) {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    boost::asio::post(loop_, [this, on] {
      take_inbox(); // what was sent before
      router_->hurry(on);
    });
  }

  // Any thread. The connections' thread ends once all commands are answered.
  void close() {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    boost::asio::post(loop_, [this] {
      take_inbox();
      router_->close({remote_failure::closed, "the remote tier is shut down"});
      work_.reset();
    });
  }

  // The thread's function. It continues after an exception (out of memory), which fails all waiting
  // commands.
  void run() {
    thread_ = std::this_thread::get_id();
    const auto beside = make_side_work_ ? make_side_work_() : nullptr;
    for (;;) {
      try {
        while (loop_.run_one() != 0) {
          if (beside) beside->run();
          take_inbox(); // commands that were put on this thread
          // Immediate answers may have led to more commands; the sockets are served first.
          if ((beside && beside->has_more()) || !is_inbox_empty()) boost::asio::post(loop_, [] {});
        }
        return;
      } catch (const std::exception& problem) {
        fail_all({remote_failure::garbage, one_line(problem.what())});
        boost::asio::post(loop_, [] {}); // wakes the loop for the remaining work
      }
    }
  }

private:
  using addressed_command = std::pair<remote_client::lane, remote_command>;

  void take_inbox() {
    {
      const std::scoped_lock lock(mutex_);
      taken_.swap(inbox_);
    }
    if (taken_.empty()) return;
    const auto now = clock::now();
    for (auto& [by, command] : taken_)
      router_->add(by, std::move(command), now);
    taken_.clear();
    router_->flush();
  }

  bool is_inbox_empty() {
    const std::scoped_lock lock(mutex_);
    return inbox_.empty();
  }

  void fail_all(const connection_problem& why) {
    router_->fail_all(why);
    for (auto& [by, command] : std::exchange(taken_, {}))
      if (command.answered) command.answer({why.failure, why.text, {}}); // the router has it not
  }

  std::shared_ptr<lane_context> context_; // keeps the loop
  boost::asio::io_context& loop_;
  const side_work_maker make_side_work_; // null: none
  std::unique_ptr<command_router> router_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::atomic<std::thread::id> thread_;  // the thread that executes `run`
  std::vector<addressed_command> taken_; // from the inbox; empty outside of `take_inbox`
  std::mutex mutex_;
  std::vector<addressed_command> inbox_; // under mutex_
  bool closed_ = false;                  // under mutex_
};

class redis_client final : public remote_client {
public:
  redis_client(std::shared_ptr<redis_engine> engine, std::thread thread)
      : engine_(std::move(engine))
      , thread_id_(thread.get_id())
      , thread_(std::move(thread)) {}

  ~redis_client() override {
    close();
    // In the child of a fork there is no thread, and the sockets are the parent's: both are leaked.
    // On the connections' thread itself, which ends soon, the thread is detached.
    if (is_forked()) {
      static_cast<void>(new std::shared_ptr<redis_engine>(engine_));
      static_cast<void>(new std::thread(std::move(thread_)));
    } else if (thread_.joinable()) {
      thread_.detach();
    }
  }

  void send_all(lane by, std::vector<command> commands, std::chrono::milliseconds deadline,
                replies_callback answered) override {
    const auto allowed = std::min(deadline, longest_deadline);
    const auto end = clock::now() + allowed;
    const auto told = std::make_shared<const replies_callback>(std::move(answered));
    std::vector<remote_command> all;
    all.reserve(commands.size());
    for (auto& arguments : commands) {
      remote_command one{{}, end, allowed, told, all.size()};
      for (const auto& argument : arguments)
        one.bytes += argument.size();
      one.arguments = std::move(arguments);
      all.push_back(std::move(one));
    }
    if (!is_forked() && engine_->put(by, all)) return;
    for (auto& one : all)
      one.answer(closed_reply());
  }

  void hurry(bool on) override {
    if (!is_forked()) engine_->hurry(on);
  }

  void close() override {
    if (is_forked()) return;
    engine_->close();
    if (thread_id_ == std::this_thread::get_id()) return;
    const std::scoped_lock lock(closing_);
    if (thread_.joinable()) thread_.join();
  }

private:
  bool is_forked() const noexcept { return fork_generation() != fork_generation_; }

  const std::uint64_t fork_generation_ = fork_generation();
  std::shared_ptr<redis_engine> engine_;
  const std::thread::id thread_id_;
  std::mutex closing_;
  std::thread thread_; // under closing_
};

} // namespace

expected<std::shared_ptr<remote_client>>
connect_redis(remote_endpoint endpoint, side_work_maker beside, name_resolver resolve) {
  auto context = std::make_shared<lane_context>();
  if (endpoint.transport == remote_transport::tls) {
    auto tls = make_tls_context(endpoint);
    if (!tls) return fail(tls.error());
    context->tls = std::move(*tls);
  }
  context->endpoint = std::move(endpoint);
  context->resolve = context->endpoint.form == remote_form::sentinel
                         ? master_resolver(context->endpoint, context->tls, std::move(resolve))
                         : std::move(resolve);
  std::unique_ptr<command_router> router;
  if (context->endpoint.form == remote_form::cluster)
    router = std::make_unique<cluster_router>(cluster_settings{context->endpoint.hosts,
                                                               context->endpoint.jitter_seed,
                                                               context->endpoint.max_waiting_bytes},
                                              std::make_unique<socket_loop>(context));
  else
    router = std::make_unique<server_lanes>(context);
  auto engine = std::make_shared<redis_engine>(context, std::move(router), std::move(beside));
  auto thread = os::start_quiet_thread("hearth-remote", [engine] { engine->run(); });
  if (!thread)
    return fail(errc::process_failed, "cannot start the remote tier's thread; allow more threads");
  return std::make_shared<redis_client>(std::move(engine), std::move(*thread));
}

} // namespace hearth::net
