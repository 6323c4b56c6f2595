// The threads of the connections: each has its own loop and its own connections. A thread runs the
// actors that its connections' requests wake, so that most requests wake no other thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility> // Boost 1.74 does not include it under C++20
#include <vector>

#include <boost/asio/io_context.hpp>

namespace caf {
class actor_system;
} // namespace caf

namespace hearth::server {

class io_threads {
public:
  /// Starts `count` threads. Throws std::system_error when the system refuses one.
  io_threads(caf::actor_system& system, std::size_t count);
  io_threads(const io_threads&) = delete;
  io_threads& operator=(const io_threads&) = delete;
  /// Stops, and destroys the loops, the first one last. No other thread may post to them any more.
  ~io_threads();

  /// Ends the threads. The loops stay until this object ends, since sockets and timers need them.
  void stop();

  std::size_t count() const noexcept { return loops_.size(); }
  boost::asio::io_context& loop(std::size_t at) noexcept;
  /// Called by a handler of a loop, on its thread, when it may have sent messages to actors: they
  /// run behind the handlers that are ready.
  static void run_actors_soon();
  /// As above, at once.
  static void run_actors_now();

private:
  struct loop_thread;
  std::vector<std::unique_ptr<loop_thread>> loops_;
};

} // namespace hearth::server
