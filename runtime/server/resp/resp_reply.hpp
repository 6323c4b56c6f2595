// Writes replies of RESP2 and RESP3 to a connection's output. Owned by one session.
#pragma once

#include "runtime/server/connection/output_queue.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::server {

class resp_reply {
public:
  explicit resp_reply(output_queue& out)
      : out_(&out) {}

  /// The protocol's version, 2 or 3: HELLO changes it.
  unsigned version() const noexcept { return version_; }
  void set_version(unsigned version) noexcept { version_ = version; }

  void status(std::string_view text);
  /// `text` begins with the error's code: "ERR syntax error".
  void error(std::string_view text);
  void integer(std::int64_t number);
  void bytes(std::string_view raw);
  /// A range of a value's bytes.
  void bytes(const artifact& value, std::size_t offset, std::size_t count);
  void null();
  /// Null in place of an array.
  void null_array();
  /// The items follow.
  void array(std::size_t items);
  /// The keys and values follow, in turn.
  void map(std::size_t pairs);
  void raw(std::string_view reply) { out_->append(reply); }

private:
  void number_line(char mark, std::int64_t number);

  output_queue* out_;
  unsigned version_ = 2;
};

/// Replies as text, for the answers that are given before their turn.
std::string status_text(std::string_view text);
std::string error_text(std::string_view text);
std::string integer_text(std::int64_t number);

} // namespace hearth::server
