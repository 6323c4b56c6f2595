#include "runtime/simulation/virtual_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace hearth::simulation {

inode::inode(std::uint64_t inode_number, bool directory, mode_t permissions)
    : number(inode_number)
    , is_directory(directory)
    , mode(permissions) {
  if (is_directory) return;
  memory = ::memfd_create("simulated", MFD_CLOEXEC);
  if (memory < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
}

inode::~inode() {
  if (memory >= 0) ::close(memory);
}

const inode::extent& inode::size() const {
  struct stat about {};
  if (std::exchange(has_changed, false) && ::fstat(memory, &about) == 0)
    extent_ = {static_cast<std::uint64_t>(about.st_size),
               static_cast<std::uint64_t>(about.st_blocks)};
  return extent_;
}

std::string inode::contents() const {
  std::string bytes(size().bytes, '\0');
  const auto got = ::pread(memory, bytes.data(), bytes.size(), 0);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

void inode::replace_contents(std::string_view bytes) const {
  has_changed = true;
  const bool whole =
      ::ftruncate(memory, static_cast<off_t>(bytes.size())) == 0 &&
      ::pwrite(memory, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  if (!whole) throw std::system_error(errno, std::generic_category(), "simulated disk");
}

virtual_disk::virtual_disk()
    : root_(std::make_shared<inode>(next_inode_++, true, 0755)) {}

// --- paths -------------------------------------------------------------------------------------

std::shared_ptr<inode> virtual_disk::of(int fd) const {
  const auto at = open_.find(fd);
  return at == open_.end() ? nullptr : at->second;
}

virtual_disk::place virtual_disk::resolve(int directory, std::string_view path) const {
  auto now = directory == AT_FDCWD || path.starts_with('/') ? root_ : of(directory);
  std::string name;
  while (now && !path.empty()) {
    const auto slash = path.find('/');
    const auto part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (!name.empty()) {
      const auto next = now->names.find(name);
      now = next != now->names.end() && next->second->is_directory ? next->second : nullptr;
    }
    name = part;
  }
  return {now, name};
}

std::shared_ptr<inode> virtual_disk::look_up(int directory, std::string_view path) const {
  const auto at = resolve(directory, path);
  if (!at.directory || at.name.empty()) return at.directory;
  const auto found = at.directory->names.find(at.name);
  return found == at.directory->names.end() ? nullptr : found->second;
}

// --- system calls ------------------------------------------------------------------------------

int virtual_disk::open(int directory, std::string_view path, int flags, mode_t mode) {
  auto file = look_up(directory, path);
  if (file && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return -EEXIST;
  if (!file) {
    const auto at = resolve(directory, path);
    if ((flags & O_CREAT) == 0 || !at.directory) return -ENOENT;
    file = std::make_shared<inode>(next_inode_++, false, mode);
    at.directory->names[at.name] = file;
    file->links = 1;
  }
  if ((flags & O_DIRECTORY) != 0 && !file->is_directory) return -ENOTDIR;
  const int fd = next_descriptor_++;
  open_.emplace(fd, std::move(file));
  return fd;
}

void virtual_disk::close(int fd) {
  const auto file = of(fd);
  if (!file) return;
  file->locks.erase(fd);
  std::erase_if(file->byte_locks, [fd](const auto& lock) { return lock.second == fd; });
  open_.erase(fd);
}

int virtual_disk::make_directory(int directory, std::string_view path, mode_t mode) {
  const auto at = resolve(directory, path);
  if (!at.directory) return -ENOENT;
  if (at.name.empty() || at.directory->names.contains(at.name)) return -EEXIST;
  at.directory->names[at.name] = std::make_shared<inode>(next_inode_++, true, mode);
  return 0;
}

int virtual_disk::remove(int directory, std::string_view path) {
  const auto at = resolve(directory, path);
  const auto found = at.directory ? at.directory->names.find(at.name) : inode::entries::iterator{};
  if (!at.directory || found == at.directory->names.end()) return -ENOENT;
  --found->second->links;
  at.directory->names.erase(found);
  return 0;
}

int virtual_disk::rename(int directory, std::string_view from, std::string_view to) {
  const auto file = look_up(directory, from);
  const auto old = resolve(directory, from);
  const auto now = resolve(directory, to);
  if (!file || !now.directory) return -ENOENT;
  old.directory->names.erase(old.name);
  auto& named = now.directory->names[now.name];
  if (named) --named->links;
  named = file;
  return 0;
}

int virtual_disk::link(int directory, std::string_view from, std::string_view to) {
  const auto file = look_up(directory, from);
  const auto at = resolve(directory, to);
  if (!file || !at.directory) return -ENOENT;
  if (!at.directory->names.emplace(at.name, file).second) return -EEXIST;
  ++file->links;
  return 0;
}

int virtual_disk::list(int directory, std::vector<std::string>& names) {
  names.clear();
  const auto at = of(directory);
  if (!at || !at->is_directory) return -ENOTDIR;
  for (const auto& [name, file] : at->names)
    names.push_back(name);
  return 0;
}

namespace {

int fill_status(const inode& file, struct stat& out) {
  static const uid_t user = ::geteuid();
  out = {};
  out.st_nlink = file.is_directory ? 2 : file.links;
  out.st_ino = file.number;
  if (!file.is_directory) {
    out.st_size = static_cast<off_t>(file.size().bytes);
    out.st_blocks = static_cast<blkcnt_t>(file.size().blocks);
  }
  out.st_mode = (file.is_directory ? S_IFDIR : S_IFREG) | file.mode;
  out.st_uid = user;
  return 0;
}

} // namespace

int virtual_disk::status(int fd, struct stat& out) {
  const auto file = of(fd);
  return file ? fill_status(*file, out) : -EBADF;
}

int virtual_disk::status_at(int directory, std::string_view path, struct stat& out) {
  const auto file = look_up(directory, path);
  return file ? fill_status(*file, out) : -ENOENT;
}

int virtual_disk::sync(int fd) {
  const auto file = of(fd);
  if (!file) return -EBADF;
  if (lies_) return 0;
  if (file->is_directory)
    file->durable_names = file->names;
  else if (file->links > 0)
    file->durable = file->contents();
  return 0;
}

int virtual_disk::try_lock(int fd, bool exclusive) {
  const auto file = of(fd);
  if (!file) return -EBADF;
  for (const auto& [holder, alone] : file->locks)
    if (holder != fd && (exclusive || alone)) return -EWOULDBLOCK;
  file->locks[fd] = exclusive;
  return 0;
}

void virtual_disk::unlock(int fd) {
  if (const auto file = of(fd)) file->locks.erase(fd);
}

int virtual_disk::try_lock_byte(int fd, std::uint64_t offset) {
  const auto file = of(fd);
  if (!file) return -EBADF;
  const auto [at, is_new] = file->byte_locks.try_emplace(offset, fd);
  return is_new || at->second == fd ? 0 : -EAGAIN;
}

void virtual_disk::unlock_byte(int fd, std::uint64_t offset) {
  const auto file = of(fd);
  if (!file) return;
  const auto at = file->byte_locks.find(offset);
  if (at != file->byte_locks.end() && at->second == fd) file->byte_locks.erase(at);
}

int virtual_disk::memory_of(int fd) const {
  const auto file = of(fd);
  return file && !file->is_directory ? file->memory : -EBADF;
}

int virtual_disk::memory_to_change(int fd) {
  const auto file = of(fd);
  if (!file || file->is_directory) return -EBADF;
  file->has_changed = true;
  return file->memory;
}

// --- operations of the host --------------------------------------------------------------------

namespace {

// A file's bytes after a power loss: each sector, and the length, as synced or as written.
std::string torn(const inode& file, random_source& random) {
  constexpr std::size_t sector = 512;
  auto now = file.contents();
  const auto& old = file.durable;
  if (now.size() != old.size() && random.one_in(2)) now.resize(old.size());
  for (std::size_t at = 0; at < now.size(); at += sector) {
    const auto bytes = std::min(sector, now.size() - at);
    const auto before = at < old.size() ? std::string_view(old).substr(at, bytes) : "";
    if (std::string_view(now).substr(at, bytes) == before || random.one_in(2)) continue;
    std::string lost(before);
    lost.resize(bytes, '\0');
    now.replace(at, bytes, lost);
  }
  return now;
}

void each_file(const std::string& path, const inode& directory,
               const std::function<void(const std::string&, inode&)>& visit) {
  for (const auto& [name, file] : directory.names) {
    if (file->is_directory)
      each_file(path + name + "/", *file, visit);
    else
      visit(path + name, *file);
  }
}

std::uint64_t bytes_below(const inode& directory, std::set<const inode*>& seen) {
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : directory.names) {
    if (file->is_directory)
      bytes += bytes_below(*file, seen);
    else if (file->links < 2 || seen.insert(file.get()).second)
      bytes += file->size().blocks * 512;
  }
  return bytes;
}

} // namespace

// A journal keeps the order of a directory's changes: either all of its changes since the last sync
// survive, or none. Changes to a file after its last name was removed came later: they are lost
// when the name is back.
void virtual_disk::lose_in(inode& directory, random_source& random) const {
  if (random.one_in(2)) directory.names = directory.durable_names;
  directory.durable_names = directory.names;
  for (const auto& [name, file] : directory.names) {
    file->locks.clear();
    file->byte_locks.clear();
    if (file->is_directory) {
      lose_in(*file, random);
    } else {
      if (file->links > 0) file->durable = torn(*file, random);
      file->replace_contents(file->durable);
    }
  }
}

void virtual_disk::lose_power(random_source& random) {
  open_.clear();
  root_->durable_names = root_->names; // the store's parent existed long before
  lose_in(*root_, random);
  each_file("/", *root_, [](const std::string&, inode& file) { file.links = 0; });
  each_file("/", *root_, [](const std::string&, inode& file) { ++file.links; });
  ++power_losses_;
}

std::vector<std::string> virtual_disk::files_below(std::string_view path) const {
  std::vector<std::string> paths;
  const auto from = look_up(AT_FDCWD, path);
  if (from && from->is_directory)
    each_file(std::string(path) + "/", *from,
              [&](const std::string& name, const inode&) { paths.push_back(name); });
  return paths;
}

std::shared_ptr<inode> virtual_disk::find(std::string_view path) const {
  return look_up(AT_FDCWD, path);
}

bool virtual_disk::remove_file(std::string_view path) { return remove(AT_FDCWD, path) == 0; }

std::uint64_t virtual_disk::used_bytes() const {
  std::set<const inode*> seen; // a file may have several names
  return bytes_below(*root_, seen);
}

} // namespace hearth::simulation
