#include "runtime/server/entries/stored_value.hpp"

#include <string>
#include <utility>

namespace hearth::server {
artifact make_value(std::string_view bytes, expiry_ms expires, value::map members) {
  if (expires != 0) members.insert_or_assign(std::string(expiry_member), expires);
  return members.empty() ? artifact::make(bytes) : artifact::make(bytes, members);
}

artifact with_expiry(const artifact& stored, expiry_ms expires) {
  auto members = stored.metadata().value_or(value::map{});
  members.erase(std::string(expiry_member));
  return make_value(stored.payload(), expires, std::move(members));
}

value::map members_of(std::chrono::nanoseconds time_taken) {
  if (time_taken.count() <= 0) return {};
  return with_time_taken(artifact::make(""), time_taken).metadata().value_or(value::map{});
}

} // namespace hearth::server
