#include "runtime/process/worker/trial_buffers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace hearth::worker {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t guard_bytes = 1 << 16; // also catches a write that skips a row
constexpr std::byte mark{0xa5};

constexpr std::size_t round_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

// SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Writes `of(word)` as each element. Uses memcpy, since the memory has no elements of that type.
template <class Of>
void fill(std::span<std::byte> memory, std::uint64_t state, Of of) {
  using element = decltype(of(state));
  for (std::size_t at = 0; at + sizeof(element) <= memory.size(); at += sizeof(element)) {
    const element made = of(mix(state += golden));
    std::memcpy(memory.data() + at, &made, sizeof made);
  }
}

bool unmarked(std::span<const std::byte> slack) {
  return !std::all_of(slack.begin(), slack.end(), [](std::byte b) { return b == mark; });
}

} // namespace

std::size_t size_of(element_type type) {
  switch (type) {
  case element_type::f64:
  case element_type::i64: return 8;
  case element_type::f32:
  case element_type::i32: return 4;
  case element_type::u8: break;
  }
  return 1;
}

expected<std::size_t> count_elements(const std::vector<std::int64_t>& shape) {
  if (shape.size() > max_trial_rank)
    return fail(errc::too_large, "a shape of more than 16 dimensions");
  std::size_t count = 1;
  for (const auto extent : shape) {
    if (extent < 0)
      return fail(errc::invalid_argument, "a negative extent: " + std::to_string(extent));
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count) ||
        count > max_trial_bytes)
      return fail(errc::too_large, "more than 4 GiB");
  }
  return count;
}

expected<guarded_memory> guarded_memory::make(std::size_t size) {
  if (size > max_trial_bytes) return fail(errc::too_large, "more than 4 GiB");
  const auto usable = round_up(std::max(size, alignment), guard_bytes);
  const auto whole = usable + 2 * guard_bytes;
  void* mapped = ::mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return fail(error_of_errno(errno, "cannot map it"));
  guarded_memory made;
  made.mapping_ = {static_cast<std::byte*>(mapped), whole};
  made.usable_ = made.mapping_.subspan(guard_bytes, usable);
  if (::mprotect(made.usable_.data(), usable, PROT_READ | PROT_WRITE) != 0)
    return fail(error_of_errno(errno, "cannot map it"));
  made.bytes_ = made.usable_.subspan(usable - round_up(size, alignment), size);
  std::ranges::fill(made.front(), mark);
  std::ranges::fill(made.back(), mark);
  return made;
}

guarded_memory::guarded_memory(guarded_memory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, {}))
    , usable_(other.usable_)
    , bytes_(other.bytes_) {}

guarded_memory::~guarded_memory() {
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());
}

std::span<std::byte> guarded_memory::front() const {
  return usable_.first(static_cast<std::size_t>(bytes_.data() - usable_.data()));
}

std::span<std::byte> guarded_memory::back() const {
  return usable_.subspan(front().size() + bytes_.size());
}

std::string guarded_memory::overrun() const {
  if (unmarked(back())) return "past the end of";
  if (unmarked(front())) return "in front of";
  return {};
}

void fill_input(std::span<std::byte> memory, element_type type, std::uint64_t seed,
                std::size_t buffer) {
  const auto state = mix(seed ^ mix(buffer + 1));
  const auto small = [](std::uint64_t word) { return word >> 56; };
  switch (type) {
  case element_type::f32:
    return fill(memory, state, [](std::uint64_t word) {
      return static_cast<float>(word >> 40) * 0x1p-23F - 1.0F;
    });
  case element_type::f64:
    return fill(memory, state,
                [](std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-52 - 1.0; });
  case element_type::i32:
    return fill(memory, state,
                [&](std::uint64_t word) { return static_cast<std::int32_t>(small(word)); });
  case element_type::i64:
    return fill(memory, state,
                [&](std::uint64_t word) { return static_cast<std::int64_t>(small(word)); });
  case element_type::u8:
    return fill(memory, state,
                [&](std::uint64_t word) { return static_cast<std::uint8_t>(small(word)); });
  }
}

} // namespace hearth::worker
