// Futures: no call blocks; the callback runs when the result arrives, at once for a hit.
#include <hearth/hearth.hpp>

#include <iostream>
#include <latch>

int main() {
  hearth::runtime rt({});
  const auto opened = rt.open("kernels");
  if (!opened) return std::cerr << opened.error().text() << '\n', 1;
  const auto& kernels = *opened;

  std::latch done(1);
  kernels.insert_async("relu", hearth::artifact::make("machine code"))
      .then([&](hearth::expected<hearth::insert_outcome> outcome) {
        // Runs on an actor's thread: move long work to another thread.
        std::cout << (outcome ? hearth::to_string(*outcome) : outcome.error().text()) << '\n';
        done.count_down();
      });
  done.wait();

  auto hit = kernels.get_async("relu");
  std::cout << (hit.ready() ? "ready" : "under way") << '\n';
  hit.then([](hearth::expected<hearth::lookup> found) {
    std::cout << found->value.payload() << " from " << hearth::to_string(found->from) << '\n';
  });
}
