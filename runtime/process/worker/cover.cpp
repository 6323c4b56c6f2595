#include "runtime/process/worker/cover.hpp"

#include "runtime/os/files/descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace hearth::worker {
namespace {

bool write_file(const char* path, std::string_view text) {
  const os::descriptor file{::open(path, O_WRONLY | O_CLOEXEC)};
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Enters namespaces of its own. `is_user`: that of users is one of them.
int enter_namespaces(bool& is_user) {
  is_user = false;
  if (::unshare(CLONE_NEWNS) == 0) return 0;
  if (errno != EPERM) return errno;
  is_user = true;
  const auto user = std::to_string(::geteuid()), group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return errno;
  const bool is_mapped = write_file("/proc/self/setgroups", "deny") &&
                         write_file("/proc/self/uid_map", user + " " + user + " 1") &&
                         write_file("/proc/self/gid_map", group + " " + group + " 1");
  return is_mapped ? 0 : errno;
}

// The fifth word of a line of mountinfo, in which blanks are "\040".
std::string mount_point_in(std::string_view line) {
  constexpr int words_before = 4, octal = 8;
  for (int word = 0; word < words_before; ++word)
    line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
  std::string path;
  line = line.substr(0, line.find(' '));
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 3 >= line.size()) {
      path += line[i];
      continue;
    }
    path +=
        static_cast<char>(std::strtol(std::string(line.substr(i + 1, 3)).c_str(), nullptr, octal));
    i += 3;
  }
  return path;
}

bool has_mounts_below(const std::string& folder) {
  constexpr std::size_t most_bytes = 16 << 20;
  const os::descriptor file{::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)};
  const auto all = os::read_to_end(file.get(), most_bytes);
  if (!all) return true; // it is unknown
  const auto start = folder == "/" ? folder : folder + "/";
  for (std::string_view left(*all); !left.empty();) {
    const auto end = std::min(left.find('\n'), left.size());
    const auto point = mount_point_in(left.substr(0, end));
    if (point.starts_with(start) && point != "/") return true;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return false;
}

std::string path_of(const os::descriptor& folder) {
  return "/proc/self/fd/" + std::to_string(folder.get());
}

// The options name descriptors, since a path in them may need quoting.
int mount_overlay(const folder_cover& cover, bool is_user) {
  constexpr int as_folder = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const os::descriptor lower{::open(cover.folder.c_str(), as_folder)};
  const os::descriptor upper{::open(cover.changes.c_str(), as_folder)};
  const os::descriptor work{::open(cover.work.c_str(), as_folder)};
  if (!lower || !upper || !work) return errno;
  // What was changed is read from `changes` itself, so it has to be there whole.
  auto options =
      "lowerdir=" + path_of(lower) + ",upperdir=" + path_of(upper) + ",workdir=" + path_of(work);
  options += is_user ? ",userxattr" : ",redirect_dir=off,metacopy=off"; // the first implies them
  struct statvfs of {};
  if (::statvfs(cover.folder.c_str(), &of) != 0) return errno;
  if ((of.f_flag & ST_RDONLY) != 0) return EROFS;
  unsigned long flags = 0;
  if ((of.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((of.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((of.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  const bool is_done =
      ::mount("overlay", cover.folder.c_str(), "overlay", flags, options.c_str()) == 0;
  return is_done ? 0 : errno;
}

// Folders whose times and modes are to be as before.
class kept_status {
public:
  void keep(const std::string& folder) {
    struct stat found {};
    if (::stat(folder.c_str(), &found) == 0) kept_.try_emplace(folder, found);
  }
  // Whether all belong to this user and its group: in a namespace in which they alone are known,
  // nothing of others can be changed.
  bool are_own() const {
    return std::all_of(kept_.begin(), kept_.end(), [](const auto& one) {
      return one.second.st_uid == ::geteuid() && one.second.st_gid == ::getegid();
    });
  }
  void restore() const {
    for (const auto& [folder, found] : kept_) {
      const std::array<timespec, 2> times{found.st_atim, found.st_mtim};
      (void)::chown(folder.c_str(), found.st_uid, found.st_gid);
      ::chmod(folder.c_str(), found.st_mode & 07777);
      ::utimensat(AT_FDCWD, folder.c_str(), times.data(), 0);
    }
  }

private:
  std::map<std::string, struct stat> kept_;
};

std::string folder_above(const std::string& path) { return path.substr(0, path.rfind('/')); }

void make_folders(const std::string& path, const std::string& top, kept_status& kept) {
  for (auto end = top.size(); end != path.npos;) {
    const auto above = path.substr(0, end);
    end = path.find('/', end + 1);
    kept.keep(above);
    ::mkdir(path.substr(0, end).c_str(), 0777);
  }
}

} // namespace

int cover_folder(const folder_cover& cover) {
  kept_status kept;
  kept.keep(cover.folder);
  for (const auto& path : cover.hidden)
    kept.keep(folder_above(path));
  for (const auto& path : cover.folders)
    for (auto at = path; at.size() > cover.folder.size(); at = folder_above(at))
      kept.keep(at);
  const bool are_own = kept.are_own();
  bool is_user = false;
  if (const int failure = enter_namespaces(is_user); failure != 0) return failure;
  if (is_user && !are_own) return EPERM;
  if (has_mounts_below(cover.folder)) return EXDEV;
  // Else the mount would be made for everybody.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  if (const int failure = mount_overlay(cover, is_user); failure != 0) return failure;
  for (const auto& path : cover.folders)
    if (path.size() > cover.folder.size()) make_folders(path, cover.folder, kept);
  for (const auto& path : cover.hidden)
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR && errno != EISDIR)
      return errno;
  kept.restore();
  return 0;
}

} // namespace hearth::worker
