#include "tests/support/running_server.hpp"

#include "tests/support/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <thread>

namespace hearth::test {
namespace {

constexpr std::string_view mark = "listening: ";

// The lines that say where the server listens, once they are there.
std::vector<std::string> wait_for_lines(const std::filesystem::path& scratch) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < end) {
    for (const auto& entry : std::filesystem::directory_iterator(scratch)) {
      if (entry.path().extension() != ".out") continue;
      auto text = file_text(entry.path());
      // All are written at once.
      if (text.starts_with(mark) && text.ends_with('\n')) return lines_of(text);
    }
    std::this_thread::sleep_for(2ms);
  }
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
  run_.emplace(std::move(all), scratch);
  listening_ = wait_for_lines(scratch);
  if (listening_.empty()) {
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

program_result running_server::end() {
  run_->signal(SIGTERM);
  auto ended = run_->wait_at_most(std::chrono::seconds(60));
  run_.reset();
  return ended;
}

} // namespace hearth::test
