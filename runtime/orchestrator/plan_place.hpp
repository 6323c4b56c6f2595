// Where something stands in a plan, and errors that say so. Plain values, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::orchestrator {

struct plan_place {
  std::size_t line = 0; ///< from 1; 0: not of one line
  std::string key;      ///< "kernel[0].buffers[2].type"; may be empty
};

/// "path:line: key: what", in one line whatever the parts hold.
error plan_error(const std::string& path, const plan_place& place, errc code,
                 std::string_view what);

} // namespace hearth::orchestrator
