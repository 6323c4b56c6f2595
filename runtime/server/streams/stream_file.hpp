// The file that keeps a server's streams: changes, each appended in one write, so that what was
// acknowledged survives the end of the process. docs/store-format.md describes it. Owned by the
// stream log, one thread at a time; all functions block.
#pragma once

#include "messages/error.hpp"
#include "runtime/os/files/descriptor.hpp"
#include "runtime/server/streams/stream_id.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::server {

/// A stream, as the server knows it.
struct stream_name {
  std::string name_space; ///< empty: the trusted one
  unsigned database = 0;
  std::string key;

  friend auto operator<=>(const stream_name&, const stream_name&) = default;
};

/// A change of the streams.
struct stream_record {
  enum class kind : std::uint8_t {
    append = 1,    ///< an entry, and how many of its stream stay
    erase = 2,     ///< the stream goes
    erase_all = 3, ///< all streams of the namespace and database go
    cut = 4,       ///< the stream has lost its entries up to `id`
    last = 5,      ///< ids up to this one were given
  };
  kind what = kind::append;
  stream_name at;
  stream_id id;
  std::uint64_t max_length = ~std::uint64_t{0}; ///< of an append
  std::vector<std::string> words;               ///< of an append: names and values in turn

  friend bool operator==(const stream_record&, const stream_record&) = default;
};

/// A record's bytes, with its length and checksum.
std::string encode(const stream_record& record);
/// Takes the first record off `bytes`. Empty: they do not begin with a whole one.
std::optional<stream_record> take_record(std::string_view& bytes);

class stream_file {
public:
  /// Opens or creates the file, and gives `visit` each record in order. A torn end, as a power loss
  /// leaves one, is cut off. Errors: `busy` when another process has the file open, `malformed`
  /// when it is no such file, and those of the system.
  static expected<stream_file> open(std::filesystem::path path,
                                    const std::function<void(stream_record)>& visit);

  /// Appends a record. After an error the file is as before.
  expected<void> append(const stream_record& record);
  /// Replaces the content: readers of the path see the old one or the new one.
  expected<void> replace(const std::vector<stream_record>& records);
  /// Makes the content survive a power loss.
  expected<void> sync() const;
  std::uint64_t size() const noexcept { return size_; }

private:
  stream_file(std::filesystem::path path, os::descriptor file)
      : path_(std::move(path))
      , file_(std::move(file)) {}
  expected<void> read(const std::function<void(stream_record)>& visit);
  expected<void> cut(std::uint64_t size);

  std::filesystem::path path_;
  os::descriptor file_;
  std::uint64_t size_ = 0;
  bool is_torn_ = false; // an append failed and could not be cut off
};

} // namespace hearth::server
