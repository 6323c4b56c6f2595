#include "messages/tuning.hpp"

namespace hearth {

std::string_view to_string(guarded_status status) noexcept {
  switch (status) {
  case guarded_status::hit: return "hit";
  case guarded_status::guard_miss: return "guard_miss";
  case guarded_status::full_miss: return "full_miss";
  }
  return "full_miss";
}

std::string_view to_string(tune_mode mode) noexcept {
  switch (mode) {
  case tune_mode::full: return "full";
  case tune_mode::descent: return "descent";
  case tune_mode::cached_only: return "cached-only";
  case tune_mode::off: return "off";
  }
  return "off";
}

std::string_view to_string(tune_status status) noexcept {
  switch (status) {
  case tune_status::compiled: return "compiled";
  case tune_status::memory: return "memory";
  case tune_status::disk: return "disk";
  case tune_status::remote: return "remote";
  case tune_status::waited: return "waited";
  case tune_status::failed: return "failed";
  }
  return "failed";
}

} // namespace hearth
