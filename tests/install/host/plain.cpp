// A store without a runtime.
#include <hearth/plain_store.hpp>

#include <iostream>

int main(int, char** arguments) {
  const auto store = hearth::plain_store::open(arguments[1]);
  const auto kernels = hearth::cache_id::make("kernels");
  if (!store || !kernels) return 1;
  const auto found = store->get(*kernels, "matmul");
  if (!found) return std::cerr << found.error().text() << '\n', 1;
  if (!found->hit() && !store->insert(*kernels, "matmul", hearth::artifact::make("code"))) return 1;
  std::cout << (found->hit() ? found->value.payload() : "stored") << '\n';
}
