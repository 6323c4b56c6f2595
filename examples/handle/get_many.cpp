// Many keys at once: one call, which costs less than a call a key.
#include <hearth/hearth.hpp>

#include <iostream>
#include <vector>

int main() {
  hearth::runtime rt({});
  const auto kernels = rt.open("kernels");
  if (!kernels) return std::cerr << kernels.error().text() << '\n', 1;

  for (int size : {128, 256}) {
    const auto key = hearth::key::tuple({"matmul", hearth::key::integer(size)});
    const auto binary = hearth::artifact::make("code for " + std::to_string(size));
    if (const auto stored = kernels->insert(key, binary); !stored)
      return std::cerr << stored.error().text() << '\n', 1;
  }

  std::vector<hearth::key> wanted;
  for (int size : {64, 128, 256})
    wanted.push_back(hearth::key::tuple({"matmul", hearth::key::integer(size)}));
  const auto found = kernels->get_many(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!found[i]) return std::cerr << found[i].error().text() << '\n', 1;
    std::cout << wanted[i].describe() << ": "
              << (found[i]->hit() ? found[i]->value.payload() : "a miss") << '\n';
  }
}
