// What a connection does with the answers that other threads post to it.
#include "runtime/server/connection/connection.hpp"
#include "tests/runtime/server/stepped_host.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>

namespace connection_test {

using namespace hearth;
using namespace hearth::server;
using namespace hearth::test;

namespace {

// A peer that takes every byte at once, and sends none.
class silent_peer final : public stream {
public:
  explicit silent_peer(std::vector<std::string>& writes)
      : writes_(writes) {}

  void begin(done_callback done) override { done({}); }
  void read(std::span<char>, count_callback done) override { reading_ = std::move(done); }
  std::size_t try_write(const std::vector<std::string_view>& pieces, error_code&) override {
    auto& written = writes_.emplace_back();
    for (const auto piece : pieces)
      written += piece;
    return written.size();
  }
  void write(const std::vector<std::string_view>&, count_callback) override {
    FAIL_CHECK("nothing is left to write");
  }
  void end_output() override {}
  void close() override { reading_ = nullptr; }

private:
  std::vector<std::string>& writes_;
  count_callback reading_;
};

// A session that does nothing by itself.
class quiet_session final : public session {
public:
  std::span<char> room() override { return room_; }
  void received(std::size_t) override {}
  bool is_ready() const override { return true; }
  void sent() override {}
  void drain() override {}
  bool is_idle() const override { return true; }
  void output_ended() override { ++ends_; }

  explicit quiet_session(int& ends)
      : ends_(ends) {}

private:
  int& ends_;
  std::array<char, 16> room_{};
};

struct fixture : server_bench {
  fixture() {
    one = std::make_shared<connection>(loop, std::make_unique<silent_peer>(writes),
                                       connection::origin{}, context);
    one->start([this](session_host&) { return std::make_unique<quiet_session>(ends); },
               [](connection&) {});
    loop.poll();
  }
  ~fixture() {
    one->end();
    loop.restart();
    loop.poll();
  }
  // Posts an answer, from any thread, whose reply is this text.
  void post(const std::string& text) {
    one->post([this, text] {
      one->output().append(text);
      one->resume();
    });
  }
  void run() {
    loop.restart();
    loop.poll();
  }

  boost::asio::io_context loop;
  std::vector<std::string> writes;
  int ends = 0; // how often the session was told that all output was sent
  std::shared_ptr<connection> one;
};

} // namespace

TEST_CASE_FIXTURE(fixture, "the replies of answers that have come together are written together") {
  post("a");
  std::jthread([this] { post("b"); }).join();
  post("c");
  CHECK(writes.empty());
  run();
  CHECK(writes == std::vector<std::string>{"abc"});
  post("d");
  run();
  CHECK(writes == std::vector<std::string>{"abc", "d"});
}

TEST_CASE_FIXTURE(fixture, "an answer that comes while others are answered has its own turn") {
  one->post([this] {
    post("second");
    one->output().append("first");
  });
  run();
  CHECK(writes == std::vector<std::string>{"first", "second"});
}

TEST_CASE_FIXTURE(fixture, "a session is told when all output was sent, before the peer goes") {
  post("a");
  run();
  CHECK(ends == 0);
  one->post([this] {
    one->output().append("last");
    one->close_after_output();
    one->resume();
  });
  run();
  CHECK(writes == std::vector<std::string>{"a", "last"});
  CHECK(ends == 1);
}

TEST_CASE_FIXTURE(fixture, "nothing runs behind the answer that ends a connection") {
  bool has_run = false;
  one->post([this] { one->end(); });
  one->post([&] { has_run = true; });
  run();
  one->post([&] { has_run = true; });
  run();
  CHECK_FALSE(has_run);
  CHECK(writes.empty());
}

} // namespace connection_test
