#include "runtime/server/connection/io_threads.hpp"

#include "actors/thread_unit.hpp"
#include "runtime/os/quiet_thread.hpp"

#include <cerrno>
#include <system_error>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

namespace hearth::server {

struct io_threads::loop_thread {
  explicit loop_thread(caf::actor_system& system)
      : work(loop.get_executor()) {
    auto started = os::start_quiet_thread("hearth.serve", [this, &system] { run(system); });
    if (!started) throw std::system_error(EAGAIN, std::generic_category(), "a thread");
    thread = std::move(*started);
  }
  ~loop_thread() { stop(); }

  void stop() {
    loop.stop();
    if (thread.joinable()) thread.join();
  }

  void run(caf::actor_system& system) {
    actors::thread_unit own_unit(system);
    unit = &own_unit;
    of_this_thread = this;
    while (!loop.stopped()) {
      loop.run_one();
      // What is left when its turn is over must not wait for the next bytes.
      if (unit->has_woken() && !is_posted) unit->leave_to_workers();
    }
  }

  void run_actors() {
    is_posted = false;
    unit->run();
  }

  static thread_local loop_thread* of_this_thread;

  boost::asio::io_context loop{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  actors::thread_unit* unit = nullptr;
  bool is_posted = false;
  std::thread thread; // uses the other members
};

thread_local io_threads::loop_thread* io_threads::loop_thread::of_this_thread = nullptr;

io_threads::io_threads(caf::actor_system& system, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    loops_.push_back(std::make_unique<loop_thread>(system));
}

io_threads::~io_threads() {
  stop();
  while (!loops_.empty())
    loops_.pop_back();
}

void io_threads::stop() {
  for (const auto& one : loops_)
    one->stop();
}

boost::asio::io_context& io_threads::loop(std::size_t at) noexcept { return loops_[at]->loop; }

void io_threads::run_actors_now() {
  if (auto* const here = loop_thread::of_this_thread) here->unit->run();
}

void io_threads::run_actors_soon() {
  auto* const here = loop_thread::of_this_thread;
  if (!here || here->is_posted || !here->unit->has_woken()) return;
  here->is_posted = true;
  boost::asio::post(here->loop, [here] { here->run_actors(); });
}

} // namespace hearth::server
