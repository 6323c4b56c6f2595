#include "runtime/os/signal_name.hpp"

#include <cstring>

namespace hearth::os {

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? std::string("SIG") + name : "signal " + std::to_string(number);
}

} // namespace hearth::os
