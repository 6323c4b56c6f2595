#include "runtime/caches/attachments/attachments.hpp"

#include "runtime/caches/attachments/folder_swap.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace hearth {
namespace {

namespace fs = std::filesystem;

error of_system(const std::error_code& problem, std::string_view what, const fs::path& path) {
  return error_of_errno(problem.value(), std::string(what) + " " + path.string());
}

expected<fs::path> place_of(const fs::path& base, const std::string& folder) {
  if (!is_inner_path(folder))
    return fail(errc::invalid_argument,
                "a folder '" + folder + "' would lead out of " + base.string());
  std::error_code problem;
  const auto absolute = fs::absolute(base, problem);
  if (problem) return fail(of_system(problem, "cannot find", base));
  return absolute.lexically_normal() / folder;
}

bool is_text(const std::string& path, const collect_options& options) {
  return std::any_of(options.texts.begin(), options.texts.end(),
                     [&](const auto& ending) { return path.ends_with(ending); });
}

expected<attached_file> read_file(const fs::path& root, const fs::path& at,
                                  const collect_options& options) {
  struct stat status {};
  if (::lstat(at.c_str(), &status) != 0)
    return fail(error_of_errno(errno, "cannot read " + at.string()));
  if (!S_ISREG(status.st_mode))
    return fail(errc::invalid_argument, at.string() + " is no regular file: it cannot be attached");
  auto bytes = os::read_whole_file(at, max_attachment_bytes);
  if (!bytes) return fail(bytes.error());
  attached_file file{at.lexically_relative(root).generic_string(),
                     std::move(*bytes),
                     (status.st_mode & S_IXUSR) != 0,
                     {}};
  if (is_text(file.path, options)) cut_folder(file, root.string());
  return file;
}

bool is_there(const fs::path& root, const attached_file& file) {
  const auto path = root / file.path;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (((status.st_mode & S_IXUSR) != 0) != file.is_program) return false;
  const auto bytes = os::read_whole_file(path, max_attachment_bytes);
  return bytes && *bytes == bytes_in(file, root.string());
}

std::size_t count_files(const fs::path& root) {
  std::size_t count = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at(root, problem), end; !problem && at != end;
       at.increment(problem))
    count += !at->is_directory(problem);
  return count;
}

bool is_identical(const attachment& files, const fs::path& root) {
  std::error_code problem;
  if (!fs::is_directory(fs::symlink_status(root, problem))) return false;
  return count_files(root) == files.files.size() &&
         std::all_of(files.files.begin(), files.files.end(),
                     [&](const auto& file) { return is_there(root, file); });
}

// Writes the files below `temporary`, with the content that they need in `root`.
expected<void> write_files(const attachment& files, const fs::path& temporary,
                           const fs::path& root) {
  for (const auto& file : files.files) {
    const auto path = temporary / file.path;
    std::error_code problem;
    fs::create_directories(path.parent_path(), problem);
    if (problem) return fail(of_system(problem, "cannot make", path.parent_path()));
    if (auto written = write_new_file(path, bytes_in(file, root.string()), file.is_program);
        !written)
      return written;
  }
  return {};
}

} // namespace

std::string_view to_string(put_back_outcome outcome) noexcept {
  switch (outcome) {
  case put_back_outcome::put: return "put";
  case put_back_outcome::identical: return "identical";
  case put_back_outcome::replaced: return "replaced";
  }
  return "unknown";
}

expected<attachment> collect_folder(const fs::path& base, const std::string& folder,
                                    const collect_options& options) {
  const auto root = place_of(base, folder);
  if (!root) return fail(root.error());
  attachment found{folder, {}};
  std::uint64_t bytes = 0;
  std::error_code problem;
  fs::recursive_directory_iterator at(*root, problem);
  for (const fs::recursive_directory_iterator end; !problem && at != end; at.increment(problem)) {
    if (at->is_directory(problem) && !at->is_symlink(problem)) continue;
    auto file = read_file(*root, at->path(), options);
    if (!file) return fail(file.error());
    bytes += file->bytes.size();
    if (bytes > max_attachment_bytes)
      return fail(errc::too_large, root->string() + " has more than 1 GiB of files");
    found.files.push_back(std::move(*file));
  }
  if (problem) return fail(of_system(problem, "cannot read", *root));
  std::sort(found.files.begin(), found.files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

expected<put_back_outcome> put_back(const attachment& files, const fs::path& base) {
  const auto root = place_of(base, files.folder);
  if (!root) return fail(root.error());
  if (is_identical(files, *root)) return put_back_outcome::identical;
  auto made = temporary_folder::beside(*root);
  if (!made) return fail(made.error());
  if (auto written = write_files(files, made->path(), *root); !written)
    return fail(written.error());
  const auto had_another = made->put_in_place_of(*root);
  if (!had_another) return fail(had_another.error());
  return *had_another ? put_back_outcome::replaced : put_back_outcome::put;
}

} // namespace hearth
