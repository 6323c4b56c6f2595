// Places in a plan, and errors that name them. Plain values, any thread.
#pragma once

#include "messages/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth::orchestrator {

struct plan_place {
  std::size_t line = 0; ///< from 1; 0: no single line
  std::string key;      ///< "kernel[0].buffers[2].type"; may be empty
};

/// "path:line: key: what", in one line, even if a part has line breaks.
error plan_error(const std::string& path, const plan_place& place, errc code,
                 std::string_view what);

} // namespace hearth::orchestrator
