// A cache of C++ values: any type that msgpack supports, or that lists its members.
#include <hearth/hearth.hpp>
#include <hearth/typed_cache.hpp>

#include <iostream>
#include <string>

namespace {

struct shape {
  std::string kernel;
  int m = 0, n = 0;
  MSGPACK_DEFINE(kernel, m, n)
};

struct tuning {
  int tile = 0;
  double milliseconds = 0;
  MSGPACK_DEFINE(tile, milliseconds)
};

} // namespace

int main() {
  hearth::runtime rt({});
  const auto opened = rt.open("tunings", hearth::cache_options().with_version("1"));
  if (!opened) return std::cerr << opened.error().text() << '\n', 1;
  const hearth::typed_cache<shape, tuning> tunings(*opened);

  const shape wanted{"matmul", 256, 256};
  for (int turn = 0; turn < 2; ++turn) {
    const auto found = tunings.get(wanted);
    if (!found) return std::cerr << found.error().text() << '\n', 1;
    if (*found)
      std::cout << "tile " << (*found)->tile << " takes " << (*found)->milliseconds << " ms\n";
    else
      std::cout << "not tuned yet: " << to_string(tunings.insert(wanted, {32, 1.5}).value())
                << '\n';
  }
}
