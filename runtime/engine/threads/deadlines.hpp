// Ends asynchronous requests when their deadline passes. One thread, which the first deadline
// starts and the end of the runtime stops. Any thread may add.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace hearth::engine {

class deadlines {
public:
  using time_point = std::chrono::steady_clock::time_point;

  deadlines();
  deadlines(const deadlines&) = delete;
  deadlines& operator=(const deadlines&) = delete;
  ~deadlines() { stop(); }

  /// Calls `expire(request)` at `when`, on the thread of the deadlines, if `request` lives then.
  template <class Request, class Expire>
  void add(time_point when, const std::shared_ptr<Request>& request, Expire expire) {
    add_entry({when, request, [expire](const std::shared_ptr<void>& living) {
                 expire(*std::static_pointer_cast<Request>(living));
               }});
  }
  /// Drops the remaining requests and ends the thread. Nothing expires after that.
  void stop();

private:
  struct entry {
    time_point when;
    std::weak_ptr<void> request;
    std::function<void(const std::shared_ptr<void>&)> expire;
  };

  struct state; // shared with the thread, which may end after the deadlines

  void add_entry(entry one);

  std::shared_ptr<state> state_;
};

} // namespace hearth::engine
