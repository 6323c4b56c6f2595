#include "messages/replies.hpp"

namespace hearth {

std::string_view to_string(tier t) noexcept {
  switch (t) {
  case tier::none: return "none";
  case tier::memory: return "memory";
  case tier::disk: return "disk";
  case tier::remote: return "remote";
  }
  return "none";
}

std::string_view to_string(insert_outcome outcome) noexcept {
  return outcome == insert_outcome::inserted ? "inserted" : "exists";
}

std::string_view to_string(fleet_lease outcome) noexcept {
  switch (outcome) {
  case fleet_lease::ours: return "ours";
  case fleet_lease::elsewhere: return "elsewhere";
  case fleet_lease::unavailable: return "unavailable";
  }
  return "unavailable";
}

} // namespace hearth
