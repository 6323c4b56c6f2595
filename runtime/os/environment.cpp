#include "runtime/os/environment.hpp"

namespace hearth::os {

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const auto& variable : environment)
    if (variable.starts_with(name) && variable.size() > name.size() && variable[name.size()] == '=')
      return variable.c_str() + name.size() + 1;
  return nullptr;
}

} // namespace hearth::os
