#include "runtime/caches/modules/module_files.hpp"

#include "runtime/os/files/pending_file.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr mode_t private_file = 0600;
constexpr mode_t private_folder = 0700;
constexpr const char* format_folder = "v1";

expected<void> open_folder(const fs::path& folder) {
  ::mkdir(folder.c_str(), private_folder);
  struct stat about {};
  if (::lstat(folder.c_str(), &about) != 0)
    return fail(error_of_errno(errno, "cannot use " + folder.string()));
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 077) != 0)
    return fail(errc::permission, folder.string() + " is not a private directory of this user");
  return {};
}

bool is_whole(const fs::path& file, const digest& content, std::size_t size) {
  struct stat about {};
  if (::lstat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  if (static_cast<std::uint64_t>(about.st_size) != size) return false;
  const auto bytes = os::read_whole_file(file, size);
  return bytes && sha256(*bytes) == content;
}

expected<void> write_module(const fs::path& file, const artifact& object) {
  auto pending = os::pending_file::begin(file, private_file);
  if (!pending) return fail(pending.error());
  if (auto written = pending->write(object.payload()); !written) return written;
  return pending->commit();
}

struct module_file {
  fs::path path;
  std::uint64_t bytes;
  fs::file_time_type used;
};

std::vector<module_file> files_in(const fs::path& folder) {
  std::vector<module_file> all;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code gone;
    const auto bytes = at->file_size(gone);
    const auto used = at->last_write_time(gone);
    if (!gone) all.push_back({at->path(), bytes, used});
  }
  return all;
}

} // namespace

fs::path module_folder(const fs::path& store) { return store / format_folder / "modules"; }

expected<fs::path> write_module_file(const fs::path& folder, const digest& content,
                                     const artifact& object) {
  if (auto opened = open_folder(folder); !opened) return fail(opened.error());
  const auto file = folder / (content.hex() + ".so");
  std::error_code ignored;
  if (is_whole(file, content, object.payload().size())) {
    fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
    return file;
  }
  const auto size = object.payload().size();
  if (size < max_module_folder_bytes) prune_modules(folder, max_module_folder_bytes - size);
  if (auto written = write_module(file, object); !written) return fail(written.error());
  return file;
}

std::uint64_t prune_modules(const fs::path& folder, std::uint64_t max_bytes) {
  auto all = files_in(folder);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  std::uint64_t left = 0;
  for (const auto& file : all)
    left += file.bytes;
  std::uint64_t removed = 0;
  for (auto at = all.begin(); at != all.end() && left > max_bytes; ++at) {
    std::error_code failure;
    if (!fs::remove(at->path, failure)) continue;
    left -= at->bytes;
    removed += at->bytes;
  }
  return removed;
}

} // namespace hearth
