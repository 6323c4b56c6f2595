#include "messages/expiry.hpp"

#include "messages/unix_time.hpp"

#include <algorithm>
#include <string>

namespace hearth {

std::int64_t expiry_in(std::string_view metadata) {
  if (metadata.find(expiry_member) == metadata.npos) return 0; // nearly always
  const auto decoded = decode_value(metadata);
  const auto* const members = decoded ? decoded->as<value::map>() : nullptr;
  if (!members) return 0;
  const auto at = members->find(std::string(expiry_member));
  const auto* const end = at == members->end() ? nullptr : at->second.as<std::int64_t>();
  return end ? std::max<std::int64_t>(*end, 0) : 0;
}

bool has_expired(const artifact& made) {
  const auto end = expiry_of(made);
  return end != 0 && is_expired(end, unix_time_ms());
}

artifact with_ttl(artifact made, std::chrono::milliseconds ttl) {
  if (ttl.count() <= 0) return made;
  auto members = made.metadata();
  if (!members) return made;
  members->insert_or_assign(std::string(expiry_member),
                            unix_time_ms() + std::min(ttl, max_ttl).count());
  return artifact::make(made.payload(), *members);
}

} // namespace hearth
