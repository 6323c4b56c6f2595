#include "runtime/handle/replace_entry.hpp"

namespace hearth {

expected<replace_outcome> replace_entry(const cache& in, const key& k, const artifact& value) {
  const auto outcome = in.insert(k, value);
  if (!outcome) return fail(outcome.error());
  if (*outcome == insert_outcome::inserted) return replace_outcome::inserted;
  const auto there = in.get(k);
  if (there && there->hit() && same_bytes(there->value, value)) return replace_outcome::same;
  if (auto put = in.put(k, value); !put) return fail(put.error());
  return replace_outcome::replaced;
}

} // namespace hearth
