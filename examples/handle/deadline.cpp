// get_or_compile with a deadline and with cancellation: a caller that waits for another caller's
// compile can limit its wait, and a cancelled compile passes to the next waiting caller.
#include <hearth/hearth.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <stop_token>
#include <thread>

int main() {
  using namespace std::chrono_literals;
  hearth::runtime rt({});
  const auto opened = rt.open("kernels");
  if (!opened) return std::cerr << opened.error().text() << '\n', 1;
  const auto& kernels = *opened;

  std::promise<void> started;
  std::stop_source stop;
  std::thread slow([&] {
    const auto made = kernels.get_or_compile(
        "attention",
        [&]() -> hearth::expected<hearth::artifact> {
          started.set_value();
          while (!stop.stop_requested()) // a real compile kills its compiler here
            std::this_thread::yield();
          return hearth::fail(hearth::errc::cancelled, "called off");
        },
        hearth::call_options().stopped_by(stop.get_token()));
    std::cout << "the first: " << made.error().to_string() << '\n';
  });
  started.get_future().wait();

  const auto compile = [] { return hearth::artifact::make("machine code"); };
  const auto late =
      kernels.get_or_compile("attention", compile, hearth::call_options().within(5ms));
  std::cout << "an impatient one: " << hearth::to_string(late.error().code()) << '\n';

  auto next =
      kernels.get_or_compile_async("attention", compile, hearth::call_options().within(1min));
  stop.request_stop();
  slow.join();
  std::cout << "the next: " << next.get()->payload() << '\n';
}
