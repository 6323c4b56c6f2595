#include "runtime/process/scratch.hpp"

#include "runtime/os/files/descriptor.hpp"
#include "runtime/os/files/plain_file.hpp"
#include "runtime/process/scratch_view.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace hearth::process {
namespace {

constexpr std::uint64_t max_output_bytes = std::uint64_t{1} << 30;

os::descriptor open_file(const std::string& path, int flags) {
  return os::descriptor{::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0700)};
}

expected<void> read_all(int file, char* to, std::uint64_t size, const std::string& path) {
  while (size > 0) {
    const auto count = ::read(file, to, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error_of_errno(errno, "cannot read " + path));
    if (count == 0) return fail(errc::io, path + " became shorter while it was read");
    to += count;
    size -= static_cast<std::uint64_t>(count);
  }
  return {};
}

// An overlay notes a removed file as a device with the number 0.
bool is_removed(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISCHR(found.st_mode) && found.st_rdev == 0;
}

// Whether a folder on the way to a file is a link that the program has made beneath an overlay,
// where it leads elsewhere than here.
bool leads_elsewhere(const std::filesystem::path& scratch, const std::filesystem::path& name) {
  if (name.empty() || *name.begin() != actors::changes_folder) return false;
  auto at = scratch;
  for (const auto& part : name.parent_path())
    if (std::error_code ignored; std::filesystem::is_symlink(at /= part, ignored)) return true;
  return false;
}

// Removes a folder with all in it. Programs leave folders that may not be changed or listed (so
// does the kernel, in that of an overlay): they get the rights first.
void remove_folder(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code failure;
  fs::remove_all(path, failure);
  if (!failure) return;
  std::vector<fs::path> left{path};
  while (!left.empty()) {
    const auto folder = std::move(left.back());
    left.pop_back();
    ::chmod(folder.c_str(), 0700);
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end;
         at.increment(ignored))
      if (at->symlink_status(ignored).type() == fs::file_type::directory)
        left.push_back(at->path());
  }
  fs::remove_all(path, failure);
}

class temporary_scratch : public actors::scratch_directory {
public:
  explicit temporary_scratch(std::filesystem::path path)
      : path_(std::move(path)) {}
  ~temporary_scratch() override { remove_folder(path_); }

  std::string path(const std::string& name) const override {
    return name.empty() ? path_.string() : (path_ / name).string();
  }

  expected<void> write(const std::string& name, std::string_view bytes) override {
    const auto full = path(name);
    std::error_code failure;
    std::filesystem::create_directories(std::filesystem::path(full).parent_path(), failure);
    const auto file = open_file(full, O_WRONLY | O_CREAT | O_EXCL);
    if (!file) return fail(error_of_errno(errno, "cannot make " + full));
    auto written = os::write_all(file.get(), bytes);
    if (!written) return fail(written.error().within(full));
    return written;
  }

  expected<artifact> read(const std::string& name) const override {
    const auto full = path(name);
    if (is_removed(full)) return fail(errc::not_found, full + ": No such file or directory");
    if (leads_elsewhere(path_, name))
      return fail(errc::unsupported, full + " is behind a symbolic link");
    const auto file = os::open_regular(full, O_NOFOLLOW);
    if (!file) return fail(file.error());
    struct stat status {};
    if (fstat(file->get(), &status) != 0) return fail(error_of_errno(errno, "cannot open " + full));
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > max_output_bytes) return fail(errc::too_large, full + " has more than 1 GiB");
    auto* body = artifact_body::allocate(0, size);
    if (!body) return fail(errc::too_large, "no memory for " + full);
    auto result = artifact::adopt(body);
    if (auto all = read_all(file->get(), body->payload_data(), size, full); !all)
      return fail(all.error());
    return result;
  }

  bool is_executable(const std::string& name) const override {
    return ::access(path(name).c_str(), X_OK) == 0;
  }

  expected<std::string> show(const scratch_view& view) override { return build_view(path_, view); }

  expected<std::optional<folder_cover>> cover(const scratch_view& view) override {
    auto cover = cover_of(path_, view);
    if (!cover) return std::nullopt;
    for (const auto& folder : {cover->changes, cover->work, cover->temporary})
      if (::mkdir(folder.c_str(), 0700) != 0)
        return fail(error_of_errno(errno, "cannot make " + folder));
    return cover;
  }

private:
  std::filesystem::path path_;
};

} // namespace

namespace {

namespace fs = std::filesystem;

constexpr std::string_view base_prefix = "hearth-scratch-";
constexpr int max_left_over = 1000; // bound on the directories examined

std::string lock_path(const fs::path& base) { return (base / "lock").string(); }

// The lock goes last: by it another process knows what to remove.
void remove_base(const fs::path& base) {
  std::error_code ignored;
  for (fs::directory_iterator at(base, ignored), end; !ignored && at != end; at.increment(ignored))
    if (at->path().filename() != "lock") remove_folder(at->path());
  remove_folder(base);
}

// Removes `base` if its lock is free: its process has ended.
void remove_if_left_over(const fs::path& base) {
  struct stat status {};
  if (::lstat(base.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != ::geteuid())
    return;
  const auto lock = open_file(lock_path(base), O_RDWR);
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  remove_base(base);
}

void remove_left_over(const fs::path& in) {
  std::error_code problem;
  int looked_at = 0;
  for (fs::directory_iterator at(in, problem), end; !problem && at != end; at.increment(problem)) {
    if (!at->path().filename().string().starts_with(base_prefix)) continue;
    remove_if_left_over(at->path());
    if (++looked_at == max_left_over) return;
  }
}

} // namespace

// Locked while this object lives. Before it is locked, another process may remove it as left over;
// then a new one is made.
class temporary_scratch_space::base_directory {
public:
  static expected<std::unique_ptr<base_directory>> make() {
    std::error_code problem;
    // Without symbolic links, as a program sees the names of its own folders.
    auto in = fs::temp_directory_path(problem);
    if (!problem) in = fs::canonical(in, problem);
    if (problem) return fail(errc::io, "no directory for temporary files: " + problem.message());
    remove_left_over(in);
    const auto pattern = (in / (std::string(base_prefix) + "XXXXXX")).string();
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
      auto made = make_once(pattern);
      if (!made || (*made)->is_ours()) return made;
    }
    return fail(errc::busy, "cannot make " + pattern + ": others remove it again and again");
  }

  base_directory(fs::path path, os::descriptor lock)
      : path_(std::move(path))
      , lock_(std::move(lock)) {}
  base_directory(const base_directory&) = delete;
  base_directory& operator=(const base_directory&) = delete;
  ~base_directory() { remove_base(path_); }

  const fs::path& path() const { return path_; }

private:
  static constexpr int max_attempts = 100;

  static expected<std::unique_ptr<base_directory>> make_once(std::string path) {
    if (!::mkdtemp(path.data())) return fail(error_of_errno(errno, "cannot make " + path));
    auto lock = open_file(lock_path(path), O_RDWR | O_CREAT | O_EXCL);
    auto made = std::make_unique<base_directory>(path, std::move(lock));
    if (!made->lock_ || !made->wait_for_lock())
      return fail(error_of_errno(errno, "cannot lock " + lock_path(path)));
    return made;
  }

  // Another process holds the lock at most for the time of a removal.
  bool wait_for_lock() const {
    int failed = -1;
    do {
      failed = ::flock(lock_.get(), LOCK_EX);
    } while (failed != 0 && errno == EINTR);
    return failed == 0;
  }

  bool is_ours() const {
    struct stat status {};
    return ::fstat(lock_.get(), &status) == 0 && status.st_nlink > 0;
  }

  fs::path path_;
  os::descriptor lock_;
};

temporary_scratch_space::temporary_scratch_space() = default;
temporary_scratch_space::~temporary_scratch_space() = default;

expected<std::unique_ptr<actors::scratch_directory>> temporary_scratch_space::make() {
  const std::lock_guard lock(mutex_);
  if (!base_) {
    auto made = base_directory::make();
    if (!made) return fail(made.error());
    base_ = std::move(*made);
  }
  auto pattern = (base_->path() / "XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return fail(error_of_errno(errno, "cannot make " + pattern));
  return std::make_unique<temporary_scratch>(pattern);
}

} // namespace hearth::process
