#include "runtime/server/streams/stream_file.hpp"

#include "messages/hash.hpp"
#include "runtime/os/files/file_problem.hpp"
#include "runtime/os/files/whole_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::string_view file_magic = "hearth-streams-1";
constexpr std::size_t head_bytes = 12; // the body's length and checksum
constexpr std::size_t max_file_bytes = std::size_t{8} << 30;

// --- numbers and texts, little-endian ----------------------------------------------------------

void append_number(std::string& to, std::uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i)
    to += static_cast<char>(number >> (8 * i) & 0xff);
}

void append_text(std::string& to, std::string_view text) {
  append_number(to, text.size(), 4);
  to += text;
}

// Takes parts off the front of a record's body; `is_good` is false once one was not there.
struct body_reader {
  std::string_view rest;
  bool is_good = true;

  std::uint64_t number(unsigned bytes) {
    if (rest.size() < bytes) {
      is_good = false;
      return 0;
    }
    std::uint64_t number = 0;
    for (unsigned i = bytes; i-- > 0;)
      number = number << 8 | static_cast<std::uint8_t>(rest[i]);
    rest.remove_prefix(bytes);
    return number;
  }
  std::string text() {
    const auto size = number(4);
    if (rest.size() < size) {
      is_good = false;
      return {};
    }
    std::string text(rest.substr(0, size));
    rest.remove_prefix(size);
    return text;
  }
};

std::string body_of(const stream_record& record) {
  std::string body;
  append_number(body, static_cast<std::uint64_t>(record.what), 1);
  append_number(body, record.at.database, 1);
  append_number(body, record.id.time, 8);
  append_number(body, record.id.number, 8);
  append_number(body, record.max_length, 8);
  append_text(body, record.at.name_space);
  append_text(body, record.at.key);
  append_number(body, record.words.size(), 4);
  for (const auto& word : record.words)
    append_text(body, word);
  return body;
}

std::optional<stream_record> record_in(std::string_view body) {
  body_reader from{body};
  stream_record record;
  const auto what = from.number(1);
  if (what < 1 || what > static_cast<std::uint64_t>(stream_record::kind::last)) return std::nullopt;
  record.what = static_cast<stream_record::kind>(what);
  record.at.database = static_cast<unsigned>(from.number(1));
  record.id.time = from.number(8);
  record.id.number = from.number(8);
  record.max_length = from.number(8);
  record.at.name_space = from.text();
  record.at.key = from.text();
  for (auto left = from.number(4); left > 0 && from.is_good; --left)
    record.words.push_back(from.text());
  if (!from.is_good || !from.rest.empty()) return std::nullopt;
  return record;
}

// --- files -------------------------------------------------------------------------------------

expected<os::descriptor> open_locked(const std::filesystem::path& path, int flags) {
  os::descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (!file) return fail(os::cannot("open", path));
  struct stat seen {};
  if (::fstat(file.get(), &seen) != 0) return fail(os::cannot("look at", path));
  if (!S_ISREG(seen.st_mode))
    return fail(errc::malformed, path.string() + " is no regular file; remove it");
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(errc::busy, "another server of this store keeps the streams (" + path.string() +
                                "); end it, or give this one a store of its own");
  return file;
}

// Whether the path still names this file: another process may have replaced it before the lock.
bool is_named(const os::descriptor& file, const std::filesystem::path& path) {
  struct stat mine {
  }, named{};
  return ::fstat(file.get(), &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

} // namespace

std::string encode(const stream_record& record) {
  const auto body = body_of(record);
  std::string bytes;
  append_number(bytes, body.size(), 4);
  append_number(bytes, fast_hash(body), 8);
  return bytes += body;
}

std::optional<stream_record> take_record(std::string_view& bytes) {
  body_reader head{bytes};
  const auto size = head.number(4);
  const auto checksum = head.number(8);
  if (!head.is_good || head.rest.size() < size) return std::nullopt;
  const auto body = head.rest.substr(0, size);
  if (fast_hash(body) != checksum) return std::nullopt;
  auto record = record_in(body);
  if (record) bytes.remove_prefix(head_bytes + size);
  return record;
}

expected<stream_file> stream_file::open(std::filesystem::path path,
                                        const std::function<void(stream_record)>& visit) {
  constexpr int most_tries = 3;
  for (int i = 0; i < most_tries; ++i) {
    auto file = open_locked(path, 0);
    if (!file) return fail(file.error());
    if (!is_named(*file, path)) continue;
    stream_file made(std::move(path), std::move(*file));
    if (auto good = made.read(visit); !good) return fail(good.error());
    return made;
  }
  return fail(errc::busy, path.string() + " is replaced again and again; is another server at it?");
}

expected<void> stream_file::read(const std::function<void(stream_record)>& visit) {
  const auto all = os::read_rest(file_, path_, max_file_bytes);
  if (!all) return fail(all.error());
  std::string_view rest(*all);
  if (rest.size() < file_magic.size() && file_magic.starts_with(rest)) {
    if (auto good = cut(0); !good) return good;
    if (::pwrite(file_.get(), file_magic.data(), file_magic.size(), 0) !=
        static_cast<ssize_t>(file_magic.size()))
      return fail(os::cannot("write", path_));
    size_ = file_magic.size();
    return {};
  }
  if (!rest.starts_with(file_magic))
    return fail(errc::malformed, path_.string() + " is no file of streams; move it away");
  rest.remove_prefix(file_magic.size());
  while (auto record = take_record(rest))
    visit(std::move(*record));
  return cut(all->size() - rest.size());
}

expected<void> stream_file::cut(std::uint64_t size) {
  if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0)
    return fail(os::cannot("cut", path_));
  size_ = size;
  return {};
}

expected<void> stream_file::append(const stream_record& record) {
  if (is_torn_) {
    if (auto good = cut(size_); !good) return good;
    is_torn_ = false;
  }
  const auto bytes = encode(record);
  const auto written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
  if (written == static_cast<ssize_t>(bytes.size())) {
    size_ += bytes.size();
    return {};
  }
  if (written >= 0) errno = ENOSPC; // only a full disk takes a part
  const auto why = os::cannot("append to", path_);
  is_torn_ = !cut(size_);
  return fail(why);
}

expected<void> stream_file::replace(const std::vector<stream_record>& records) {
  const auto beside = path_.string() + ".new";
  ::unlink(beside.c_str());
  auto file = open_locked(beside, O_EXCL);
  if (!file) return fail(file.error());
  std::string bytes(file_magic);
  for (const auto& record : records)
    bytes += encode(record);
  auto done = os::write_all(file->get(), bytes);
  if (done && ::fdatasync(file->get()) != 0) done = fail(os::cannot("sync", beside));
  if (done && ::rename(beside.c_str(), path_.c_str()) != 0)
    done = fail(os::cannot("rename", beside));
  if (!done) {
    ::unlink(beside.c_str());
    return done;
  }
  file_ = std::move(*file);
  size_ = bytes.size();
  is_torn_ = false;
  return {};
}

expected<void> stream_file::sync() const {
  if (::fdatasync(file_.get()) != 0) return fail(os::cannot("sync", path_));
  return {};
}

} // namespace hearth::server
