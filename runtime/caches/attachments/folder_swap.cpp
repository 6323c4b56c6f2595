#include "runtime/caches/attachments/folder_swap.hpp"

#include "runtime/os/files/descriptor.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <system_error>

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr int max_attempts = 16; // other processes may write the same folder

int rename_as(const fs::path& from, const fs::path& to, unsigned how) {
  return ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), how) == 0 ? 0 : errno;
}

} // namespace

expected<temporary_folder> temporary_folder::beside(const fs::path& target) {
  std::error_code problem;
  fs::create_directories(target.parent_path(), problem);
  if (problem)
    return fail(error_of_errno(problem.value(), "cannot make " + target.parent_path().string()));
  auto pattern = (target.parent_path() / ".hearth-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return fail(error_of_errno(errno, "cannot make " + pattern));
  return temporary_folder(pattern);
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

expected<bool> temporary_folder::put_in_place_of(const fs::path& target) {
  int problem = 0;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    problem = rename_as(path_, target, RENAME_NOREPLACE);
    if (problem == 0) {
      path_.clear();
      return false;
    }
    if (problem != EEXIST) break;
    problem = rename_as(path_, target, RENAME_EXCHANGE); // the old one is removed later
    if (problem == 0) return true;
    if (problem != ENOENT) break;
  }
  return fail(error_of_errno(problem, "cannot put files into " + target.string()));
}

expected<void> write_new_file(const fs::path& path, std::string_view bytes, bool is_program) {
  const os::descriptor file(::open(path.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                   is_program ? 0700 : 0600));
  if (!file) return fail(error_of_errno(errno, "cannot make " + path.string()));
  auto written = os::write_all(file.get(), bytes);
  if (!written) return fail(written.error().within(path.string()));
  return written;
}

} // namespace hearth
