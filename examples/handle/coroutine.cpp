// Coroutines: co_await a future of the cache.
#include <hearth/hearth.hpp>

#include <coroutine>
#include <exception>
#include <future>
#include <iostream>
#include <string>

namespace {

// The minimal task type of a coroutine; a host has its own.
struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

task replace(hearth::cache kernels, std::promise<std::string>& result) {
  const auto before = co_await kernels.get_async("relu");
  const auto stored = co_await kernels.put_async("relu", hearth::artifact::make("better code"));
  const auto after = co_await kernels.get_async("relu");
  if (before && stored && after)
    result.set_value(std::string(before->hit() ? "a hit" : "a miss") + ", then " +
                     std::string(after->value.payload()));
  else
    result.set_value("an error");
}

} // namespace

int main() {
  hearth::runtime rt({});
  const auto kernels = rt.open("kernels");
  if (!kernels) return std::cerr << kernels.error().text() << '\n', 1;
  std::promise<std::string> result;
  replace(*kernels, result);
  std::cout << result.get_future().get() << '\n';
}
