// One accepted connection: moves bytes between its socket and its session. Lives on the thread of
// its loop until either side ends it; created by a listener.
#pragma once

#include "runtime/server/connection/session.hpp"
#include "runtime/server/connection/stream.hpp"
#include "runtime/server/server_context.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace hearth::server {

class connection final : public session_host {
public:
  using session_maker = std::function<std::unique_ptr<session>(session_host&)>;
  using ended_callback = std::function<void(connection&)>;
  using clock = std::chrono::steady_clock;

  /// What a listener knows of its connections.
  struct origin {
    protocol speaks = protocol::resp;
    std::string peer;       ///< its address without the port, or "unix"
    identity_ptr anonymous; ///< null: clients need credentials
    bool holds_misses = false;
    bool has_certificate_users = false;
  };

  connection(boost::asio::io_context& loop, std::unique_ptr<stream> bytes, origin from,
             server_context& context);

  /// Begins. `ended` is called once, at the end, after which it is no longer used.
  void start(const session_maker& make, ended_callback ended);
  /// Ends the connection when its session is done.
  void drain();
  /// Ends it at once.
  void end();
  /// Ends it if the peer keeps the server waiting for longer than the limits allow.
  void check_time(clock::time_point now);

  output_queue& output() override { return output_; }
  void resume() override;
  void close_after_output() override { closes_ = true; }
  void post(std::function<void()> task) override;
  void post_after(std::chrono::milliseconds delay, std::function<void()> task) override;
  void note_loaded(std::uint64_t bytes) override { loaded_bytes_ += bytes; }
  const std::string& peer() const override { return from_.peer; }
  bool holds_misses() const override { return from_.holds_misses; }
  const identity_ptr& anonymous() const override { return from_.anonymous; }

private:
  std::shared_ptr<connection> self();
  void take_certificate();
  void run_posted();
  void go_on();
  void read_next();
  void note_read(std::size_t count);
  void note_end_of_input();
  void write_output();
  void write_rest(std::size_t written);
  void note_written(std::size_t count);
  void linger();
  bool waits_for_peer() const;

  boost::asio::io_context& loop_;
  std::unique_ptr<stream> bytes_;
  origin from_;
  server_context& context_;
  std::unique_ptr<session> session_;
  ended_callback ended_;
  output_queue output_;
  output_queue sending_; // what is being written
  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_; // guarded by `posted_mutex_`
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_going_on_ = false;
  bool has_all_input_ = false; // the peer sends nothing more
  bool closes_ = false;        // ends when the output is sent
  bool is_lingering_ = false;  // the output has ended: waits for the peer to read it
  bool has_ended_ = false;
  std::uint64_t loaded_bytes_ = 0; // since the actors ran
  clock::time_point waits_since_;  // for the peer; moves while enough bytes come or go
  std::uint64_t bytes_since_ = 0;
};

} // namespace hearth::server
