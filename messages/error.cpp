#include "messages/error.hpp"

#include <array>
#include <cerrno>
#include <system_error>

namespace hearth {
namespace {

struct row {
  std::string_view name;
  error_category category;
};

using enum error_category;

// For a number that is no code.
constexpr row no_code{"internal", internal};

// In the order of `errc`, which starts at 1.
constexpr std::array errc_rows{
    row{"invalid_argument", input}, row{"invalid_key", input},
    row{"invalid_value", input},    row{"malformed", input},
    row{"too_large", input},        row{"corrupt", storage},
    row{"not_found", input},        row{"io", storage},
    row{"no_space", storage},       row{"too_many_files", storage},
    row{"permission", storage},     row{"read_only", storage},
    row{"unsupported", storage},    row{"busy", storage},
    row{"overloaded", runtime},     row{"timeout", runtime},
    row{"cancelled", runtime},      row{"closed", runtime},
    row{"forked", runtime},         row{"lease_cycle", runtime},
    row{"lease_lost", runtime},     row{"compile_failed", compile},
    row{"process_failed", compile}, no_code,
    row{"overflow", input},         row{"division_by_zero", input},
    row{"unknown_name", input},     row{"remote", remote},
    row{"internal", internal},      row{"program_not_found", input},
    row{"program_refused", input},
};
static_assert(errc_rows.size() == static_cast<std::size_t>(errc::program_refused));

const row& row_of(errc code) noexcept {
  const auto index = static_cast<std::size_t>(code) - 1;
  return index < errc_rows.size() ? errc_rows[index] : no_code;
}

} // namespace

std::string_view to_string(errc code) noexcept { return row_of(code).name; }

error_category category_of(errc code) noexcept { return row_of(code).category; }

std::string_view to_string(error_category category) noexcept {
  constexpr std::array names{"input", "storage", "runtime", "compile", "remote", "internal"};
  const auto index = static_cast<std::size_t>(category);
  return index < names.size() ? names[index] : "internal";
}

error::error(errc code, std::string text)
    : detail_(std::make_shared<const detail>(detail{code, std::move(text)})) {}

const std::string& error::text() const noexcept {
  static const std::string none;
  return detail_ ? detail_->text : none;
}

std::string error::to_string() const {
  return std::string(hearth::to_string(code())) + ": " + text();
}

error error::within(std::string_view where) const {
  return {code(), std::string(where) + ": " + text()};
}

errc errc_of_errno(int number) noexcept {
  switch (number) {
  case ENOSPC:
  case EDQUOT: return errc::no_space;
  case EMFILE:
  case ENFILE:
  case ENOMEM: return errc::too_many_files;
  case EACCES:
  case EPERM: return errc::permission;
  case EROFS: return errc::read_only;
  case ENOENT:
  case ENOTDIR: return errc::not_found;
  case ENOTSUP:
  case ENOSYS: return errc::unsupported;
  case EAGAIN:
  case EBUSY: return errc::busy;
  default: return errc::io;
  }
}

error error_of_errno(int number, std::string_view what) {
  return {errc_of_errno(number),
          std::string(what) + ": " + std::generic_category().message(number)};
}

} // namespace hearth
