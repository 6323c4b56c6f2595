#include "runtime/fingerprints/files/file_source.hpp"

#include "runtime/fingerprints/files/mount.hpp"
#include "runtime/os/files/plain_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace hearth::fingerprints {
namespace {

constexpr std::size_t read_bytes = 256 * 1024;
constexpr std::size_t min_read_bytes = 4096;
constexpr int read_attempts = 3;            // for a file that changes while it is read
constexpr std::size_t max_digests = 65'536; // that a source remembers

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t nanoseconds(const statx_timestamp& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct file_status {
  file_stamp stamp;
  mode_t mode = 0;
};

// Nothing, with errno: there is no such file, or it cannot be looked at.
std::optional<file_status> status_at(int folder, const char* path, int flags) {
  struct statx found {};
  if (::statx(folder, path, flags, STATX_BASIC_STATS | mount_mask(), &found) != 0)
    return std::nullopt;
  file_status status;
  status.mode = found.stx_mode;
  status.stamp = {mount_of(found),
                  makedev(found.stx_dev_major, found.stx_dev_minor),
                  found.stx_ino,
                  static_cast<std::int64_t>(found.stx_size),
                  nanoseconds(found.stx_mtime),
                  nanoseconds(found.stx_ctime),
                  S_ISDIR(found.stx_mode)};
  return status;
}

class open_file {
public:
  // Opening does not wait for the other end of a pipe, and children do not inherit the descriptor.
  explicit open_file(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  std::optional<file_status> status() const { return status_at(descriptor_, "", AT_EMPTY_PATH); }
  // Bytes read, 0 at the end, -1 with errno.
  ssize_t read(char* to, std::size_t size) const {
    for (;;) {
      const auto got = ::read(descriptor_, to, size);
      if (got >= 0 || errno != EINTR) return got;
    }
  }

private:
  int descriptor_;
};

// Passes every part of a regular file to `consume`; returns the stamp that it had throughout.
template <class Consume>
expected<file_stamp> read_through(const std::string& path, Consume consume) {
  const open_file file(path);
  if (!file.is_open()) return fail(os::cannot_open(path));
  const auto before = file.status();
  if (!before) return fail(error_of_errno(errno, "cannot look at " + path));
  if (auto good = os::check_regular(path, before->mode); !good) return fail(good.error());
  // Most files are small, and a large buffer costs its pages each time.
  const auto size =
      std::clamp(static_cast<std::size_t>(before->stamp.size) + 1, min_read_bytes, read_bytes);
  const std::unique_ptr<char[]> buffer(new char[size]);
  for (;;) {
    const auto got = file.read(buffer.get(), size);
    if (got < 0) return fail(error_of_errno(errno, "cannot read " + path));
    if (got == 0) break;
    if (auto done = consume(std::string_view(buffer.get(), static_cast<std::size_t>(got))); !done)
      return fail(done.error());
  }
  const auto after = file.status();
  if (!after || after->stamp != before->stamp)
    return fail(errc::busy, path + " changes while it is read; let its writer end");
  return after->stamp;
}

expected<file_content> hash_once(const std::string& path) {
  const auto at_ns = file_clock_ns();
  sha256_stream stream;
  auto stamp = read_through(path, [&](std::string_view part) -> expected<void> {
    stream.update(part);
    return {};
  });
  if (!stamp) return fail(stamp.error());
  return file_content{*stamp, stream.finish(), is_reliable(*stamp, at_ns)};
}

struct system_file_source : file_source {
  std::optional<file_stamp> stamp(const std::string& path) override {
    const auto found = status_at(AT_FDCWD, path.c_str(), 0);
    return found ? std::optional(found->stamp) : std::nullopt;
  }
  std::int64_t clock_ns() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  std::optional<std::set<std::uint64_t>> mounts() override { return mounts_now(); }
  expected<file_content> hash(const std::string& path) override {
    auto result = hash_once(path);
    for (int i = 1; i < read_attempts && !result && result.error().code() == errc::busy; ++i)
      result = hash_once(path);
    return result;
  }
};

} // namespace

std::optional<file_content> file_source::known(const std::string& path, const file_stamp& stamp) {
  const std::lock_guard lock(guard_);
  const auto at = digests_.find(path);
  if (at == digests_.end() || at->second.stamp != stamp) return std::nullopt;
  return at->second;
}

void file_source::remember(const std::string& path, const file_content& content) {
  if (!content.reliable) return;
  const std::lock_guard lock(guard_);
  if (digests_.size() >= max_digests) digests_.clear();
  digests_.insert_or_assign(path, content);
}

file_source& system_files() {
  static system_file_source source;
  return source;
}

expected<std::string> read_file(const std::string& path, std::size_t limit) {
  std::string bytes;
  auto stamp = read_through(path, [&](std::string_view part) -> expected<void> {
    if (part.size() > limit - bytes.size())
      return fail(errc::too_large,
                  path + " has more than " + std::to_string(limit) + " bytes; make it smaller");
    bytes += part;
    return {};
  });
  if (!stamp) return fail(stamp.error());
  return bytes;
}

expected<std::string> read_prefix(const std::string& path, std::size_t size) {
  const open_file file(path);
  if (!file.is_open()) return fail(error_of_errno(errno, "cannot read " + path));
  std::string bytes(size, '\0');
  const auto got = file.read(bytes.data(), size);
  if (got < 0) return fail(error_of_errno(errno, "cannot read " + path));
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

} // namespace hearth::fingerprints
