#include "storage/disk/os/errors.hpp"

#include "messages/file_kind.hpp"
#include "storage/disk/os/file_system.hpp"

#include <cerrno>
#include <string>

namespace hearth::storage::disk {
namespace {

std::string_view advice(errc code) noexcept {
  switch (code) {
  case errc::no_space: return "free some space, or lower the store's budget";
  case errc::too_many_files: return "raise the limit of open files (ulimit -n) or of memory";
  case errc::permission: return "give this user the right, or name another store";
  case errc::read_only: return "open the store read-only, or name another one";
  case errc::not_found:
    return "a folder of this path is missing or was removed: make it, then open the store";
  default: return "check the disk, then `hearth verify`";
  }
}

// `where` is the file itself, or the folder that it is in.
error not_plain(std::string_view action, const std::filesystem::path& where) {
  struct stat about {};
  const bool is_seen = ::lstat(where.c_str(), &about) == 0 && !S_ISDIR(about.st_mode);
  const auto kind = is_seen ? name_of_kind(about.st_mode) : "a file that is not regular";
  return {errc::unsupported, "cannot " + std::string(action) + " " + where.string() + ": " +
                                 (is_seen ? "it is " : "there is ") + std::string(kind) +
                                 " in the place of a file of the store; remove it"};
}

} // namespace

error system_error(int number, std::string_view action, const std::filesystem::path& where) {
  if (number == no_plain_file) return not_plain(action, where);
  const auto what = "cannot " + std::string(action) + " " + where.string();
  const auto plain = error_of_errno(number, what);
  const auto help =
      number == EFBIG ? "raise the limit of a file's size (ulimit -f)" : advice(plain.code());
  return {plain.code(), plain.text() + "; " + std::string(help)};
}

} // namespace hearth::storage::disk
