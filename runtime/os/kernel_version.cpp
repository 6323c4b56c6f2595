#include "runtime/os/kernel_version.hpp"

#include <cstdio>
#include <sys/utsname.h>
#include <tuple>

namespace hearth::os {

bool is_linux_since(int major, int minor) {
  utsname system{};
  int is_major = 0, is_minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &is_major, &is_minor) != 2)
    return false;
  return std::tie(is_major, is_minor) >= std::tie(major, minor);
}

} // namespace hearth::os
