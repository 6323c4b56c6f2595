#include "storage/disk/store/lease_signs.hpp"

#include <unistd.h>

namespace hearth::storage::disk {
namespace {

constexpr std::uint64_t slot_count = 1024;
constexpr std::size_t window_size = 8; // a lease has its slot in one window of so many
using slot_window = std::array<lease_slot, window_size>;

constexpr std::uint64_t window_offset(std::uint64_t place) noexcept {
  return place * window_size % slot_count * sizeof(lease_slot);
}

// What the file does not have yet is free. Returns 0, or a negative error.
int read_window(file_system& files, int fd, std::uint64_t place, slot_window& slots) {
  const auto got = read_fully(files, fd, slots.data(), sizeof slots, window_offset(place));
  return got < 0 ? static_cast<int>(got) : 0;
}

std::optional<std::size_t> slot_of(const slot_window& slots, std::uint64_t place) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].place == place + 1) return i;
  return std::nullopt;
}

std::optional<std::size_t> free_slot(const slot_window& slots) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].place == 0) return i;
  return std::nullopt;
}

void write_slot(file_system& files, int fd, std::uint64_t place, std::size_t at, lease_slot slot) {
  (void)write_fully(files, fd, &slot, sizeof slot, window_offset(place) + at * sizeof slot);
}

} // namespace

void lease_signs::write(std::uint64_t place, std::uint32_t beats, lease_stage stage) {
  slot_window slots{};
  // Where the others' slots cannot be read, a beat may be written over one of theirs.
  if (read_window(files_, fd_, place, slots) < 0) slots = {};
  auto at = slot_of(slots, place);
  if (!at) at = free_slot(slots);
  // Slots of killed processes stay. When all are taken, one is written over, each time another.
  if (!at) at = (place / (slot_count / window_size) + beats) % window_size;
  write_slot(files_, fd_, place, *at,
             {place + 1,
              static_cast<std::uint32_t>(::getpid()),
              beats,
              static_cast<std::uint8_t>(stage),
              {}});
}

void lease_signs::clear(std::uint64_t place) {
  slot_window slots{};
  if (read_window(files_, fd_, place, slots) < 0) return;
  if (const auto at = slot_of(slots, place)) write_slot(files_, fd_, place, *at, {});
}

int lease_signs::read(std::uint64_t place, std::optional<lease_holder>& found) const {
  slot_window slots{};
  if (const int read = read_window(files_, fd_, place, slots); read < 0) return read;
  if (const auto at = slot_of(slots, place))
    found = lease_holder{slots[*at].process, slots[*at].beats,
                         static_cast<lease_stage>(slots[*at].stage)};
  return 0;
}

} // namespace hearth::storage::disk
