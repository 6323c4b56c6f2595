#include "messages/random_number.hpp"

#include <random>
#include <sys/random.h>

namespace hearth {

std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) == static_cast<ssize_t>(sizeof number)) return number;
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

} // namespace hearth
