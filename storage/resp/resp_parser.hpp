// Parses RESP2 and RESP3 incrementally from untrusted bytes: every length and count has a limit,
// and memory grows with the bytes received, not with the lengths announced. It has no socket: the
// caller reads into `room()`, so that a large bulk string is received in place. Owned by one
// thread.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// The limits of one value. A value above them is an error of the peer.
struct resp_limits {
  std::uint64_t bytes = 512u << 20;     ///< total size of its texts and bulk strings
  std::uint64_t items = 1u << 16;       ///< total items of its arrays, maps and sets
  std::uint32_t depth = 16;             ///< nesting of aggregates
  std::uint32_t line_bytes = 16u << 10; ///< length of a line, without its end
  /// Bytes to receive at once, which is also the size of the buffer; more when a line needs it, and
  /// up to four times as much while bulk strings are large. A client that pipelines gets needs a
  /// small value: with a large one all replies arrive together and the server idles meanwhile (64
  /// KiB: half as many gets of 1 KiB a second). When a read holds one reply only, the client wakes
  /// for each reply (16 KiB: a tenth fewer gets of 16 KiB).
  std::size_t buffer_bytes = 16u << 10;
  /// Bytes to allocate for a bulk string before any of them has come; then it grows by what has.
  std::uint64_t eager_bytes = 4u << 20;
  /// The size of one bulk string.
  std::uint64_t bulk_bytes = ~std::uint64_t{0};
};

/// Which side sends the bytes.
enum class resp_side : std::uint8_t {
  server, ///< replies: any value
  client, ///< requests: arrays of bulk strings, or lines of words as people type them
};

class resp_parser {
public:
  enum class outcome : std::uint8_t {
    value,  ///< a value is complete
    more,   ///< more bytes are needed
    broken, ///< the bytes are not RESP, or above a limit: parsing cannot continue
  };

  explicit resp_parser(resp_limits limits = {}, resp_side from = resp_side::server);

  /// The buffer for the next bytes; never empty. Called only after `next` returned `more`.
  std::span<char> room();
  /// Notes that the caller has filled the first `count` bytes of the last `room()`.
  void filled(std::size_t count);
  /// Parses the next value from the received bytes. A request is an array of bytes, with one item
  /// or more.
  outcome next(resp_value& out);
  /// The same for requests: the texts of the items of the next one, in strings that are used again.
  /// Empty for what Redis ignores.
  outcome next_request(std::vector<std::string>& words);
  /// Combines both: consumes the front of `input` until a value is complete or the input is empty.
  outcome take(std::string_view& input, resp_value& out);

  /// The parse error: one line, without the peer's bytes. Empty when not broken.
  const char* problem() const noexcept { return problem_; }
  /// The items of the value that is being received, as far as announced: each takes memory beside
  /// its bytes once it is there.
  std::uint64_t items_announced() const noexcept { return items_seen_; }
  /// The memory of the bulk string that is being received.
  std::uint64_t bulk_memory() const noexcept { return bulk_.text.capacity(); }
  /// Whether the bytes end between two values.
  bool is_between_values() const noexcept;

private:
  enum class step : std::uint8_t { line, bulk, bulk_end };
  struct aggregate {
    resp_value value;
    std::uint64_t missing = 0;
    bool dropped = false; // an attribute, which comes before a value and is ignored
  };

  bool take_whole_request(std::vector<std::string>& words);
  void expect_values_of(std::uint64_t bytes);
  bool find_line(std::string_view& line);
  // Each returns false when bytes are missing, the parser is broken, or no value is complete yet.
  bool read_line(resp_value& out);
  bool read_bulk();
  bool read_bulk_end(resp_value& out);
  bool take_line(std::string_view line, resp_value& out);
  bool take_request_line(std::string_view line, resp_value& out);
  bool start_bulk(char mark, std::string_view length, resp_value& out);
  std::optional<std::int64_t> length_in(std::string_view digits) const;
  bool start_aggregate(resp_value::kind kind, std::string_view count, resp_value& out);
  void open_aggregate(resp_value::kind kind, std::uint64_t items, bool dropped);
  bool complete(resp_value value, resp_value& out);
  void grow_bulk();
  bool refuse(const char* problem);

  resp_limits limits_;
  resp_side from_;
  std::vector<char> buffer_;
  std::size_t receives_;    // bytes to receive at once, unless a line needs more
  std::size_t begin_ = 0;   // start of the bytes not parsed yet
  std::size_t end_ = 0;     // end of the bytes received
  std::size_t scanned_ = 0; // no line ends before this position
  const char* problem_ = "";

  step step_ = step::line;
  resp_value bulk_; // the bulk string being received
  std::uint64_t bulk_bytes_ = 0;
  std::uint64_t bulk_received_ = 0;
  bool verbatim_ = false; // its text begins with three letters and a colon
  bool direct_ = false;   // the last room was in the bulk string

  std::vector<aggregate> open_;
  std::uint64_t items_seen_ = 0;
  std::uint64_t bytes_seen_ = 0;
};

} // namespace hearth::storage
