#include "tests/support/volatile_file_system.hpp"
#include "tests/support/files.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace fs = std::filesystem;

namespace hearth::test {
namespace {

fs::path path_of_descriptor(int fd) {
  return fs::read_symlink("/proc/self/fd/" + std::to_string(fd));
}

struct stat about(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) found.st_ino = 0;
  return found;
}

// Mapped files change word by word; other writes reach the disk sector by sector.
std::size_t unit_of(const std::string& name) {
  return name == "head" || name.starts_with("index.") ? 8 : 512;
}

} // namespace

bool volatile_file_system::may_change() noexcept {
  if (!dead_ && calls_left_ >= 0 && --calls_left_ < 0) lose_power_now(root_, seed_);
  if (dead_) return false;
  if (write_backs_ && (*write_backs_)() % 8 == 0) write_back();
  return true;
}

volatile_file_system::folder& volatile_file_system::folder_at(const fs::path& path) {
  const auto inode = about(path).st_ino;
  const auto known = folders_.find(inode);
  if (known != folders_.end()) return known->second;
  auto& made = folders_[inode];
  made.path = path;
  // Entries that exist at the first look count as synced long ago.
  for (const auto& entry : fs::directory_iterator(path)) {
    const auto id = id_of(entry.path());
    made.now[entry.path().filename()] = id;
    if (entry.is_directory())
      nodes_[id].folder = about(entry.path()).st_ino;
    else
      nodes_[id].durable = file_text(entry.path());
  }
  made.synced = made.now;
  return made;
}

volatile_file_system::folder& volatile_file_system::folder_of(int directory, const char*& name,
                                                              std::string& base) {
  if (directory != AT_FDCWD) return folder_at(path_of_descriptor(directory));
  const fs::path path = name;
  base = path.filename();
  name = base.c_str();
  return folder_at(path.parent_path());
}

volatile_file_system::file_id volatile_file_system::id_of(const fs::path& path) {
  auto& id = ids_[about(path).st_ino];
  if (id == 0) {
    id = ++last_id_;
    nodes_[id] = {};
  }
  return id;
}

void volatile_file_system::note(folder& in, change made) {
  if (!made.removed.empty()) in.now.erase(made.removed);
  if (!made.added.empty()) in.now[made.added] = made.id;
  in.news.push_back(std::move(made));
}

int volatile_file_system::open_at(int directory, const char* name, int flags,
                                  mode_t mode) noexcept {
  if (!(flags & O_CREAT)) return faulty_file_system::open_at(directory, name, flags, mode);
  const std::lock_guard lock(state_mutex_);
  if (!may_change()) return -EIO;
  struct stat found {};
  const bool is_new = ::fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0;
  std::string base;
  const char* short_name = name;
  auto* in = is_new ? &folder_of(directory, short_name, base) : nullptr;
  const int fd = faulty_file_system::open_at(directory, name, flags, mode);
  if (fd >= 0 && in) note(*in, {{}, short_name, id_of(in->path / short_name)});
  return fd;
}

ssize_t volatile_file_system::write_at(int fd, const iovec* parts, int count,
                                       std::uint64_t offset) noexcept {
  const std::lock_guard lock(state_mutex_);
  return may_change() ? faulty_file_system::write_at(fd, parts, count, offset) : -EIO;
}

int volatile_file_system::allocate(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(state_mutex_);
  return may_change() ? faulty_file_system::allocate(fd, offset, bytes) : -EIO;
}

int volatile_file_system::punch(int fd, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(state_mutex_);
  return may_change() ? faulty_file_system::punch(fd, offset, bytes) : -EIO;
}

int volatile_file_system::resize(int fd, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(state_mutex_);
  return may_change() ? faulty_file_system::resize(fd, bytes) : -EIO;
}

int volatile_file_system::sync(int fd) noexcept {
  const std::lock_guard lock(state_mutex_);
  if (!may_change()) return -EIO;
  if (const int error = fault(call::sync)) return error;
  struct stat found {};
  ::fstat(fd, &found);
  if (S_ISDIR(found.st_mode)) {
    auto& one = folder_at(path_of_descriptor(fd));
    one.synced = one.now;
    one.news.clear();
  } else if (found.st_nlink > 0) {
    const auto path = path_of_descriptor(fd);
    (void)folder_at(path.parent_path());
    nodes_[id_of(path)].durable = file_text(path);
  }
  return 0;
}

int volatile_file_system::make_directory_at(int directory, const char* name, mode_t mode) noexcept {
  const std::lock_guard lock(state_mutex_);
  if (!may_change()) return -EIO;
  std::string base;
  const char* short_name = name;
  auto& in = folder_of(directory, short_name, base);
  const int made = faulty_file_system::make_directory_at(directory, name, mode);
  if (made < 0) return made;
  const auto path = in.path / short_name;
  const auto id = id_of(path);
  nodes_[id].folder = about(path).st_ino;
  (void)folder_at(path);
  note(in, {{}, short_name, id});
  return made;
}

int volatile_file_system::remove_at(int directory, const char* name) noexcept {
  const std::lock_guard lock(state_mutex_);
  if (!may_change()) return -EIO;
  std::string base;
  auto& in = folder_of(directory, name, base);
  const auto path = in.path / name;
  const auto found = about(path);
  const auto contents = found.st_ino ? file_text(path) : std::string();
  const int removed = faulty_file_system::remove_at(directory, name);
  if (removed < 0) return removed;
  if (found.st_nlink == 1) {
    nodes_[ids_[found.st_ino]].last = contents;
    ids_.erase(found.st_ino);
  }
  note(in, {name, {}, 0});
  return removed;
}

int volatile_file_system::rename_at(int directory, const char* from, const char* to) noexcept {
  const std::lock_guard lock(state_mutex_);
  if (!may_change()) return -EIO;
  std::string base;
  const char* short_name = from;
  auto& in = folder_of(directory, short_name, base);
  const int renamed = faulty_file_system::rename_at(directory, from, to);
  if (renamed >= 0) note(in, {from, to, id_of(in.path / to)});
  return renamed;
}

int volatile_file_system::link_at(int directory, const char* from, const char* to) noexcept {
  const std::lock_guard lock(state_mutex_);
  if (!may_change()) return -EIO;
  std::string base;
  const char* short_name = from;
  auto& in = folder_of(directory, short_name, base);
  const int linked = faulty_file_system::link_at(directory, from, to);
  if (linked >= 0) note(in, {{}, to, id_of(in.path / to)});
  return linked;
}

void volatile_file_system::write_back_sometimes(std::uint64_t seed) {
  const std::lock_guard lock(state_mutex_);
  write_backs_.emplace(seed);
}

void volatile_file_system::write_back() {
  auto& random = *write_backs_;
  std::vector<std::pair<const folder*, std::string>> files;
  for (const auto& [inode, in] : folders_)
    for (const auto& [name, id] : in.now)
      if (nodes_[id].folder == 0) files.emplace_back(&in, name);
  if (files.empty()) return;
  const auto& [in, name] = files[random() % files.size()];
  auto& durable = nodes_[in->now.at(name)].durable;
  const auto now = file_text(in->path / name);
  if (random() % 2) durable.resize(now.size());
  const auto share = random() % 4; // the number of blocks in four
  const auto unit = unit_of(name);
  for (std::size_t at = 0; at < now.size(); at += unit) {
    if (random() % 4 > share) continue;
    const auto bytes = std::min(unit, now.size() - at);
    if (durable.size() < at + bytes) durable.resize(at + bytes, '\0');
    durable.replace(at, bytes, now, at, bytes);
  }
}

std::map<std::string, volatile_file_system::file_id>
volatile_file_system::surviving(const folder& of) {
  auto names = of.synced;
  const auto cut = coin() ? random_() % (of.news.size() + 1) : coin() ? of.news.size() : 0;
  std::size_t number = 0;
  for (const auto& one : of.news) {
    const bool in_order = order_ == folder_order::journal || one.added.empty();
    const bool in_time = number++ < cut;
    if (in_order ? !in_time : coin()) continue;
    if (!one.removed.empty()) names.erase(one.removed);
    if (!one.added.empty()) names[one.added] = one.id;
  }
  return names;
}

std::string volatile_file_system::left_of(const std::string& name, const node& one,
                                          const folder& in, file_id id) {
  const auto& old = one.durable;
  const auto live =
      std::find_if(in.now.begin(), in.now.end(), [&](const auto& e) { return e.second == id; });
  const auto now = one.last               ? *one.last
                   : live != in.now.end() ? file_text(in.path / live->first)
                                          : old;
  auto size = coin() ? now.size() : old.size();
  if (now.size() > old.size() && random_() % 4 == 0)
    size = old.size() + random_() % (now.size() - old.size());
  constexpr std::uint64_t chances[] = {0, 0, 8, 8, 8, 1, 15, 16, 16}; // of 16 that a block is new
  const auto chance = chances[random_() % std::size(chances)];
  const auto unit = unit_of(name);
  std::string left(size, '\0');
  for (std::size_t at = 0; at < size; at += unit) {
    const auto& from = random_() % 16 < chance ? now : old;
    if (at >= from.size()) continue;
    const auto bytes = std::min({unit, from.size() - at, size - at});
    left.replace(at, bytes, from, at, bytes);
  }
  return left;
}

void volatile_file_system::draw(const fs::path& real, const fs::path& shown, disk_image& out) {
  const auto& in = folder_at(real);
  for (const auto& [name, id] : surviving(in)) {
    const auto& one = nodes_[id];
    if (one.folder != 0) {
      out.folders.insert(shown / name);
      draw(real / name, shown / name, out);
    } else {
      out.files[shown / name] = left_of(name, one, in, id);
    }
  }
}

disk_image volatile_file_system::image_of(const fs::path& root, std::uint64_t seed) {
  random_.seed(seed);
  disk_image image;
  draw(root, {}, image);
  return image;
}

void volatile_file_system::lose_power(const fs::path& from, const fs::path& to,
                                      std::uint64_t seed) {
  const std::lock_guard lock(state_mutex_);
  write_image(image_of(from, seed), to);
}

void volatile_file_system::lose_power_now(const fs::path& root, std::uint64_t seed) {
  const std::lock_guard lock(state_mutex_);
  root_ = root;
  left_ = image_of(root, seed);
  dead_ = true;
}

void volatile_file_system::lose_power_after(int calls, const fs::path& root, std::uint64_t seed) {
  const std::lock_guard lock(state_mutex_);
  calls_left_ = calls;
  root_ = root;
  seed_ = seed;
}

void volatile_file_system::restart() {
  const std::lock_guard lock(state_mutex_);
  write_image(left_, root_);
  folders_.clear();
  nodes_.clear();
  ids_.clear();
  calls_left_ = -1;
  dead_ = false;
  heal();
  pretend_boot("start " + std::to_string(++starts_));
}

void write_image(const disk_image& image, const fs::path& to) {
  constexpr auto owner_writes = fs::perms::owner_read | fs::perms::owner_write;
  fs::create_directories(to);
  fs::permissions(to, fs::perms::owner_all);
  std::vector<fs::path> gone;
  for (const auto& entry : fs::recursive_directory_iterator(to)) {
    const auto name = entry.path().lexically_relative(to);
    if (!image.files.contains(name) && !image.folders.contains(name)) gone.push_back(entry.path());
  }
  for (const auto& path : gone)
    fs::remove_all(path);
  for (const auto& name : image.folders) {
    fs::create_directories(to / name);
    fs::permissions(to / name, fs::perms::owner_all);
  }
  for (const auto& [name, bytes] : image.files) {
    write_text(to / name, bytes);
    fs::permissions(to / name, owner_writes);
  }
}

} // namespace hearth::test
