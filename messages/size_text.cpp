#include "messages/size_text.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <string>

namespace hearth {
namespace {

// The factor of a unit; 0 for an unknown unit.
std::uint64_t unit_factor(std::string_view unit) {
  struct unit_of {
    std::string_view name;
    std::uint64_t bytes;
  };
  static constexpr unit_of units[] = {
      {"", 1},
      {"B", 1},
      {"K", 1ull << 10},
      {"KiB", 1ull << 10},
      {"kB", 1000},
      {"KB", 1000},
      {"M", 1ull << 20},
      {"MiB", 1ull << 20},
      {"MB", 1'000'000},
      {"G", 1ull << 30},
      {"GiB", 1ull << 30},
      {"GB", 1'000'000'000},
      {"T", 1ull << 40},
      {"TiB", 1ull << 40},
      {"TB", 1'000'000'000'000},
  };
  const auto* const found = std::find_if(std::begin(units), std::end(units),
                                         [&](const unit_of& one) { return one.name == unit; });
  return found == std::end(units) ? 0 : found->bytes;
}

} // namespace

expected<std::uint64_t> parse_size(std::string_view text) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789."));
  auto unit = text.substr(digits.size());
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  const auto point = digits.find('.');
  const auto whole = digits.substr(0, point);
  const auto fraction = point == digits.npos ? std::string_view{} : digits.substr(point + 1);
  const auto factor = unit_factor(unit);
  // A fraction needs a unit: half a byte does not exist.
  if (whole.empty() || fraction.find('.') != fraction.npos || factor == 0 ||
      (point != digits.npos && (fraction.empty() || factor == 1)))
    return fail(errc::malformed,
                "'" + std::string(text) + "' is no size; write 512, 64KiB, 1.5GiB or 2GB");
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(whole.data(), whole.data() + whole.size(), number);
  if (parsed.ec != std::errc{} || number >= std::numeric_limits<std::uint64_t>::max() / factor)
    return fail(errc::overflow, "'" + std::string(text) + "' is too large for a size");
  double part = 0;
  double place = 0.1;
  for (const char digit : fraction.substr(0, 18)) {
    part += (digit - '0') * place;
    place /= 10;
  }
  return number * factor + static_cast<std::uint64_t>(part * static_cast<double>(factor) + 0.5);
}

} // namespace hearth
