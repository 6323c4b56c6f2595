// Values in the replies of simulated servers. Pure functions.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hearth::simulation {

inline storage::resp_value bytes_value(std::string bytes) {
  storage::resp_value made;
  made.type = storage::resp_value::kind::bytes;
  made.text = std::move(bytes);
  return made;
}

inline storage::resp_value integer_value(std::int64_t number) {
  storage::resp_value made;
  made.type = storage::resp_value::kind::integer;
  made.integer = number;
  return made;
}

inline storage::resp_value array_value(std::vector<storage::resp_value> items) {
  storage::resp_value made;
  made.type = storage::resp_value::kind::array;
  made.items = std::move(items);
  return made;
}

} // namespace hearth::simulation
