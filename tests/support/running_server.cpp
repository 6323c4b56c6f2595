#include "tests/support/running_server.hpp"

#include "runtime/os/files/descriptor.hpp"
#include "tests/support/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace hearth::test {
namespace {

constexpr std::string_view mark = "listening: ";

// The socket at which the server says that it is ready, as it says to systemd.
class ready_notice {
public:
  explicit ready_notice(const std::filesystem::path& at)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(at.string().size() < sizeof address.sun_path);
    std::strcpy(address.sun_path, at.c_str());
    REQUIRE(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    ::setenv("NOTIFY_SOCKET", at.c_str(), 1);
  }
  ~ready_notice() { ::unsetenv("NOTIFY_SOCKET"); }

  // Whether the process says so within a minute, rather than end.
  bool wait(pid_t from) const {
    // By number: the header of glibc 2.36 declares the function in a way that C++ cannot link.
    const os::descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, from, 0)));
    pollfd all[] = {{socket_.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
    constexpr int minute_ms = 60'000;
    return ::poll(all, 2, minute_ms) > 0 && all[0].revents != 0;
  }

private:
  os::descriptor socket_;
};

// What the only run in a folder has printed.
std::string output_in(const std::filesystem::path& scratch) {
  for (const auto& entry : std::filesystem::directory_iterator(scratch))
    if (entry.path().extension() == ".out") return file_text(entry.path());
  return {};
}

} // namespace

running_server::running_server(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)) {
  start();
}

running_server::~running_server() {
  if (run_) end();
}

void running_server::start() {
  const auto scratch = directory_ / ("run" + std::to_string(++runs_));
  std::filesystem::create_directory(scratch);
  std::vector<std::string> all{"serve", "--store", store().string()};
  all.insert(all.end(), arguments_.begin(), arguments_.end());
  const ready_notice ready(scratch / "ready");
  run_.emplace(std::move(all), scratch);
  if (ready.wait(run_->pid())) {
    listening_ = lines_of(output_in(scratch));
  } else {
    run_->kill();
    const auto ended = run_->wait();
    run_.reset();
    FAIL("the server did not start: ", ended.err);
  }
}

std::uint16_t running_server::port(const std::string& protocol) const {
  const auto wanted = std::string(mark) + protocol + ' ';
  const auto line = std::find_if(listening_.begin(), listening_.end(),
                                 [&](const auto& one) { return one.starts_with(wanted); });
  REQUIRE(line != listening_.end());
  std::uint16_t port = 0;
  const auto digits = line->substr(line->rfind(':') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return port;
}

void running_server::kill() {
  run_->kill();
  run_->wait();
  run_.reset();
}

void running_server::restart() {
  run_->wait();
  run_.reset();
  start();
}

program_result running_server::end() {
  run_->signal(SIGTERM);
  auto ended = run_->wait_at_most(std::chrono::seconds(60));
  run_.reset();
  return ended;
}

} // namespace hearth::test
