#include "messages/set_kind.hpp"

#include "messages/key.hpp"

#include <array>

namespace hearth {

const set_kind* set_kind_of(std::string_view key_bytes) {
  constexpr char array_of_two = '\x92';
  constexpr std::array kinds{&variant_sets, &path_sets, &tuning_sets, &observation_sets};
  if (!key_bytes.starts_with(array_of_two)) return nullptr;
  for (const auto* kind : kinds) {
    const auto last = key(kind->part);
    if (!key_bytes.ends_with(last.encoded())) continue;
    const auto first = key_bytes.substr(1, key_bytes.size() - 1 - last.encoded().size());
    if (key::decode(first)) return kind;
  }
  return nullptr;
}

} // namespace hearth
