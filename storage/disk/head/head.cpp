#include "storage/disk/head/head.hpp"

namespace hearth::storage::disk {
namespace {

constexpr bool is_used(unsigned position) noexcept {
  return position <= static_cast<unsigned>(head_word::dropped) ||
         (position >= static_cast<unsigned>(head_word::synced) &&
          position < static_cast<unsigned>(head_word::count));
}

} // namespace

bool head_page::verify() const noexcept {
  for (unsigned position = 0; position < static_cast<unsigned>(head_word::count); ++position) {
    std::uint64_t value = 0;
    if (is_used(position) && !load(static_cast<head_word>(position), value)) return false;
  }
  const auto active = place(head_word::active);
  return get(head_word::magic) == head_magic && active.segment > 0 && get(head_word::oldest) > 0 &&
         active.segment < get(head_word::next_segment) &&
         get(head_word::oldest) <= active.segment && get(head_word::generation) > 0;
}

} // namespace hearth::storage::disk
