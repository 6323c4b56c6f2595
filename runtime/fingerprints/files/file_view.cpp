#include "runtime/fingerprints/files/file_view.hpp"

#include "runtime/fingerprints/files/mount.hpp"
#include "runtime/os/files/plain_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <vector>

namespace hearth::fingerprints {
namespace {

constexpr std::size_t read_bytes = 256 * 1024;
constexpr int read_attempts = 3;             // for a file that changes while it is read
constexpr std::size_t memo_entries = 65'536; // digests that a process remembers

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
  std::vector<char> buffer(read_bytes);
  for (;;) {
    const auto got = file.read(buffer.data(), buffer.size());
    if (got < 0) return fail(error_of_errno(errno, "cannot read " + path));
    if (got == 0) break;
    if (auto done = consume(std::string_view(buffer.data(), static_cast<std::size_t>(got))); !done)
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

expected<file_content> hash_file(const std::string& path) {
  auto result = hash_once(path);
  for (int i = 1; i < read_attempts && !result && result.error().code() == errc::busy; ++i)
    result = hash_once(path);
  return result;
}

// The digests that this process has computed, by path and stamp.
class digest_memo {
public:
  std::optional<file_content> find(const std::string& path, const file_stamp& stamp) {
    const std::lock_guard lock(guard_);
    const auto at = entries_.find(path);
    if (at == entries_.end() || at->second.stamp != stamp) return std::nullopt;
    return at->second;
  }
  void insert(const std::string& path, const file_content& content) {
    const std::lock_guard lock(guard_);
    if (entries_.size() >= memo_entries) entries_.clear();
    entries_.insert_or_assign(path, content);
  }

private:
  std::mutex guard_;
  std::unordered_map<std::string, file_content> entries_;
};

void put(std::string& to, std::int64_t number) {
  for (int shift = 0; shift < 64; shift += 8)
    to += static_cast<char>(static_cast<std::uint64_t>(number) >> shift);
}

std::int64_t get(std::string_view from) {
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i)
    number = (number << 8) | static_cast<std::uint8_t>(from[static_cast<std::size_t>(i)]);
  return static_cast<std::int64_t>(number);
}

// Six little-endian numbers of eight bytes, and one byte. The earlier form lacks the mount.
constexpr std::size_t packed_stamp_bytes = 49;
constexpr std::size_t packed_without_mount = packed_stamp_bytes - 8;
constexpr std::size_t packed_content_bytes = packed_stamp_bytes + 1 + sizeof(digest::bytes);

std::string pack(const file_stamp& stamp) {
  std::string bytes;
  for (const auto number :
       {static_cast<std::int64_t>(stamp.mount), static_cast<std::int64_t>(stamp.device),
        static_cast<std::int64_t>(stamp.inode), stamp.size, stamp.mtime_ns, stamp.ctime_ns})
    put(bytes, number);
  bytes += stamp.is_directory ? '\1' : '\0';
  return bytes;
}

std::optional<file_stamp> unpack_stamp(std::string_view bytes) {
  if (bytes.size() != packed_stamp_bytes && bytes.size() != packed_without_mount)
    return std::nullopt;
  if (static_cast<unsigned char>(bytes.back()) > 1) return std::nullopt;
  file_stamp stamp;
  if (bytes.size() == packed_stamp_bytes) {
    stamp.mount = static_cast<std::uint64_t>(get(bytes));
    bytes.remove_prefix(8);
  }
  stamp.device = static_cast<std::uint64_t>(get(bytes));
  stamp.inode = static_cast<std::uint64_t>(get(bytes.substr(8)));
  stamp.size = get(bytes.substr(16));
  stamp.mtime_ns = get(bytes.substr(24));
  stamp.ctime_ns = get(bytes.substr(32));
  stamp.is_directory = bytes.back() == '\1';
  return stamp;
}

digest_memo& process_digests() {
  static digest_memo memo;
  return memo;
}

} // namespace

std::int64_t file_clock_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now); // the clock of the kernel's file times
  return nanoseconds(now);
}

std::optional<file_stamp> stamp_now(const std::string& path) {
  const auto found = status_at(AT_FDCWD, path.c_str(), 0);
  return found ? std::optional(found->stamp) : std::nullopt;
}

bool is_reliable(const file_stamp& stamp, std::int64_t at_ns) {
  return std::max(stamp.mtime_ns, stamp.ctime_ns) < at_ns - racy_window_ns;
}

std::string path_in(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) return std::string(name);
  std::string path(directory);
  if (path.back() != '/') path += '/';
  path += name;
  return path;
}

std::optional<file_stamp> file_view::stamp(const std::string& path) {
  {
    const std::lock_guard lock(guard_);
    if (const auto at = stamps_.find(path); at != stamps_.end()) return at->second;
  }
  const auto found = stamp_now(path);
  const std::lock_guard lock(guard_);
  return stamps_.try_emplace(path, found).first->second;
}

bool file_view::is_file(const std::string& path) {
  const auto found = stamp(path);
  return found && !found->is_directory;
}

expected<file_content> file_view::content(const std::string& path) {
  {
    const std::lock_guard lock(guard_);
    if (const auto at = contents_.find(path); at != contents_.end()) return at->second;
  }
  const auto seen = stamp(path);
  auto known = seen ? process_digests().find(path, *seen) : std::nullopt;
  if (!known) {
    auto fresh = hash_file(path);
    if (!fresh) return fresh;
    if (fresh->reliable) process_digests().insert(path, *fresh);
    known = *fresh;
  }
  const std::lock_guard lock(guard_);
  stamps_.insert_or_assign(path, known->stamp);
  return contents_.try_emplace(path, *known).first->second;
}

void file_view::trust(const std::string& path, const file_content& known) {
  if (!known.reliable || stamp(path) != known.stamp) return;
  const std::lock_guard lock(guard_);
  contents_.try_emplace(path, known);
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

value to_value(const file_stamp& stamp) { return binary{pack(stamp)}; }

value to_value(const file_content& content) {
  auto bytes = pack(content.stamp);
  bytes += content.reliable ? '\1' : '\0';
  bytes += content.content.view();
  return binary{std::move(bytes)};
}

std::optional<file_stamp> read_stamp(const value& from) {
  const auto* packed = from.as<binary>();
  return packed ? unpack_stamp(packed->bytes) : std::nullopt;
}

std::optional<file_content> read_content(const value& from) {
  const auto* packed = from.as<binary>();
  if (!packed) return std::nullopt;
  const std::string_view bytes = packed->bytes;
  const auto stamp_bytes =
      bytes.size() == packed_content_bytes ? packed_stamp_bytes : packed_without_mount;
  if (bytes.size() <= stamp_bytes) return std::nullopt;
  const auto stamp = unpack_stamp(bytes.substr(0, stamp_bytes));
  const auto sum = digest::of_bytes(bytes.substr(stamp_bytes + 1));
  if (!stamp || !sum) return std::nullopt;
  file_content content;
  content.stamp = *stamp;
  content.reliable = bytes[stamp_bytes] == '\1';
  content.content = *sum;
  return content;
}

} // namespace hearth::fingerprints
