// Reads RESP2 and RESP3 from bytes as they come, in any pieces, and believes nothing: every length
// and count has a limit, and memory grows with what has arrived, not with what is announced. Knows
// no socket: whoever has one reads into `room()`, and a large bulk string is then received where it
// stays. Owned by one thread.
#pragma once

#include "storage/resp/resp_value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::storage {

/// What one value may have at most. More is an error of the peer.
struct resp_limits {
  std::uint64_t bytes = 512u << 20;     ///< of all its texts and bulk strings together
  std::uint64_t items = 1u << 16;       ///< of all its arrays, maps and sets together
  std::uint32_t depth = 16;             ///< aggregates in aggregates
  std::uint32_t line_bytes = 16u << 10; ///< of one line, without its end
  /// Bytes to receive at once, which is also the size of the buffer that is kept; more when a line
  /// needs it, and up to four times as much while bulk strings are large. A client that pipelines
  /// gets wants a small value: with a large one all replies arrive together and the server idles
  /// meanwhile (64 KiB: half as many gets of 1 KiB a second). When a read holds one reply only, the
  /// client is woken for each reply (16 KiB: a tenth fewer gets of 16 KiB).
  std::size_t buffer_bytes = 16u << 10;
};

/// Which side speaks.
enum class resp_side : std::uint8_t {
  server, ///< replies: any value
  client, ///< requests: arrays of bulk strings, or lines of words as typed by people
};

class resp_parser {
public:
  enum class outcome : std::uint8_t {
    value,  ///< there is a value
    more,   ///< bytes are wanted
    broken, ///< what came is not RESP, or above a limit: nothing can be read any more
  };

  explicit resp_parser(resp_limits limits = {}, resp_side from = resp_side::server);

  /// Where the next bytes have to go; never empty. Only after `next` wanted more.
  std::span<char> room();
  /// Says that the first `count` bytes of the last `room()` are there now.
  void filled(std::size_t count);
  /// The next value of what has arrived. A request is an array of bytes, with one item or more.
  outcome next(resp_value& out);
  /// Both in one: takes from the front of `input` until there is a value, or all is taken.
  outcome take(std::string_view& input, resp_value& out);

  /// What was wrong: one line, without the peer's bytes. Empty when not broken.
  const char* problem() const noexcept { return problem_; }
  /// Whether the bytes end between two values.
  bool is_between_values() const noexcept;

private:
  enum class step : std::uint8_t { line, bulk, bulk_end };
  struct aggregate {
    resp_value value;
    std::uint64_t missing = 0;
    bool dropped = false; // an attribute: said beside a value, and of no interest
  };

  bool find_line(std::string_view& line);
  // Each: false when bytes are missing, it is broken, or nothing was completed yet.
  bool read_line(resp_value& out);
  bool read_bulk();
  bool read_bulk_end(resp_value& out);
  bool take_line(std::string_view line, resp_value& out);
  bool take_request_line(std::string_view line, resp_value& out);
  bool start_bulk(char mark, std::string_view length, resp_value& out);
  bool start_aggregate(resp_value::kind kind, std::string_view count, resp_value& out);
  void open_aggregate(resp_value::kind kind, std::uint64_t items, bool dropped);
  bool complete(resp_value value, resp_value& out);
  void grow_bulk();
  bool refuse(const char* problem);

  resp_limits limits_;
  resp_side from_;
  std::vector<char> buffer_;
  std::size_t receives_;    // at once
  std::size_t begin_ = 0;   // of what is not read yet
  std::size_t end_ = 0;     // of what has arrived
  std::size_t scanned_ = 0; // up to here there is no end of a line
  const char* problem_ = "";

  step step_ = step::line;
  resp_value bulk_; // being received
  std::uint64_t bulk_bytes_ = 0;
  std::uint64_t bulk_received_ = 0;
  bool verbatim_ = false; // it begins with three letters and a colon
  bool direct_ = false;   // the last room was in the bulk string

  std::vector<aggregate> open_;
  std::uint64_t items_seen_ = 0;
  std::uint64_t bytes_seen_ = 0;
};

} // namespace hearth::storage
