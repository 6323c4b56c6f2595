#include "storage/disk/store_check.hpp"

#include "storage/disk/os/errors.hpp"
#include "storage/disk/store.hpp"
#include "storage/disk/store/store_directory.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hearth::storage {
namespace {

namespace fs = std::filesystem;
using disk::others_may;
using disk::system_error;
using disk::when_missing;

// Also a link that leads nowhere.
bool is_there(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// Whether this user may make something in this directory.
expected<void> check_room_in(const fs::path& directory, const fs::path& shown) {
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0) return fail(system_error(errno, "make", shown));
  if (!S_ISDIR(about.st_mode)) return fail(system_error(ENOTDIR, "make", shown));
  if (::access(directory.c_str(), W_OK | X_OK) != 0)
    return fail(system_error(errno, "make", shown));
  return {};
}

expected<void> check_own(const fs::path& directory, others_may others) {
  auto opened = disk::open_own_directory(real_file_system(), AT_FDCWD, directory, directory,
                                         when_missing::refuse, others);
  if (!opened) return fail(opened.error());
  return {};
}

} // namespace

expected<void> check_store(const fs::path& directory) {
  const auto whole = fs::absolute(directory);
  auto nearest = whole;
  while (!is_there(nearest) && nearest != nearest.root_path())
    nearest = nearest.parent_path();
  if (nearest != whole) return check_room_in(nearest, directory);
  if (auto own = check_own(directory, others_may::read); !own) return own;
  const auto of_format = directory / "v1";
  if (!is_there(of_format)) return check_room_in(directory, of_format);
  if (auto own = check_own(of_format, others_may::nothing); !own) return own;
  if (!is_there(of_format / "store")) return check_room_in(of_format, of_format / "store");
  store_options options;
  options.directory = directory;
  options.read_only = true;
  const auto opened = store::open(std::move(options));
  if (!opened) return fail(opened.error());
  return {};
}

} // namespace hearth::storage
