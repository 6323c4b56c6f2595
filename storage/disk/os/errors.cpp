#include "storage/disk/os/errors.hpp"

#include <string>

namespace hearth::storage::disk {
namespace {

std::string_view advice(errc code) noexcept {
  switch (code) {
  case errc::no_space: return "free some space, or lower the store's budget";
  case errc::too_many_files: return "raise the limit of open files (ulimit -n) or of memory";
  case errc::permission: return "give this user the right, or name another store";
  case errc::read_only: return "open the store read-only, or name another one";
  case errc::not_found: return "open the store again";
  default: return "check the disk, then `hearth verify`";
  }
}

} // namespace

error system_error(int number, std::string_view action, const std::filesystem::path& where) {
  const auto what = "cannot " + std::string(action) + " " + where.string();
  const auto plain = error_of_errno(number, what);
  return {plain.code(), plain.text() + "; " + std::string(advice(plain.code()))};
}

} // namespace hearth::storage::disk
