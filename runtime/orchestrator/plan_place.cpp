#include "runtime/orchestrator/plan_place.hpp"

#include "messages/source_place.hpp"

namespace hearth::orchestrator {

error plan_error(const std::string& path, const plan_place& place, errc code,
                 std::string_view what) {
  return error_at(path, place.line, place.key, code, what);
}

} // namespace hearth::orchestrator
