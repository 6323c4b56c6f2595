// Commands about streams: adding, reading, and waiting for what others add.
#include "runtime/server/access/ascii_case.hpp"
#include "runtime/server/entries/unix_time.hpp"
#include "runtime/server/resp/resp_arguments.hpp"
#include "runtime/server/resp/resp_command.hpp"
#include "runtime/server/resp/resp_failure.hpp"
#include "runtime/server/resp/session_streams.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace hearth::server {
namespace {

constexpr std::string_view invalid_id =
    "ERR Invalid stream ID specified as stream command argument";
constexpr std::size_t unlimited = ~std::size_t{0};

using stream_entries = std::vector<stream_entry_ptr>;

// --- replies -----------------------------------------------------------------------------------

std::uint64_t bytes_of(const stream_entries& entries) {
  std::uint64_t bytes = 0;
  for (const auto& one : entries)
    bytes += one->bytes;
  return bytes;
}

// Replies with an error where the entries are more than may be sent now.
bool reply_unless_sendable(resp_session& in, std::uint64_t bytes) {
  if (in.context().has_room_to_send(bytes)) return false;
  in.note_refused();
  in.reply().error("OOM too many large values are being sent: try later, or with COUNT");
  return true;
}

void reply_entries(resp_session& in, const stream_entries& entries) {
  auto& reply = in.reply();
  reply.array(entries.size());
  for (const auto& entry : entries) {
    reply.array(2);
    reply.bytes(to_string(entry->id));
    reply.array(entry->words.size());
    for (const auto& word : entry->words)
      reply.bytes(word);
  }
}

// --- XADD --------------------------------------------------------------------------------------

struct add_options {
  std::optional<std::uint64_t> max_length;
  bool makes_stream = true;
  std::size_t id_place = 0;
};

// What follows MAXLEN: `=` or `~`, the number, and a LIMIT that means nothing here: entries are
// always dropped at once.
expected<std::size_t> take_max_length(const resp_words& words, std::size_t at, add_options& to) {
  if (at < words.size() && (words[at] == "~" || words[at] == "=")) ++at;
  if (at >= words.size()) return fail(errc::malformed, std::string(syntax_error));
  const auto number = parse_integer(words[at]);
  if (!number) return fail(errc::malformed, std::string(not_an_integer));
  if (*number < 0) return fail(errc::malformed, "ERR The MAXLEN argument must be >= 0.");
  to.max_length = static_cast<std::uint64_t>(*number);
  ++at;
  if (at + 1 < words.size() && equal_ignoring_case(words[at], "limit")) {
    if (!parse_integer(words[at + 1])) return fail(errc::malformed, std::string(not_an_integer));
    at += 2;
  }
  return at;
}

expected<add_options> parse_add(const resp_words& words) {
  add_options options;
  std::size_t at = 2;
  while (at < words.size()) {
    if (equal_ignoring_case(words[at], "nomkstream")) {
      options.makes_stream = false;
      ++at;
    } else if (equal_ignoring_case(words[at], "maxlen")) {
      const auto next = take_max_length(words, at + 1, options);
      if (!next) return fail(next.error());
      at = *next;
    } else {
      break;
    }
  }
  options.id_place = at;
  if (at < words.size() && words[at] != "*")
    return fail(errc::malformed, parse_stream_id(words[at], 0)
                                     ? "ERR this server gives the IDs of entries; say *"
                                     : std::string(invalid_id));
  const auto left = words.size() - std::min(words.size(), at + 1);
  if (left == 0 || left % 2 != 0)
    return fail(errc::malformed, "ERR wrong number of arguments for 'xadd' command");
  return options;
}

void xadd(resp_session& in, const resp_words& words) {
  const auto options = parse_add(words);
  if (!options) return in.reply().error(options.error().text());
  auto& streams = *in.context().streams;
  auto name = stream_called(in, words[1]);
  if (!options->makes_stream && !streams.has_own(name)) return in.reply().null();
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(options->id_place) + 1;
  streams.append(std::move(name), {first, words.end()}, options->max_length,
                 on_connection<stream_id>(
                     in, [&in, call = in.begin_waiting()](const expected<stream_id>& added) {
                       added ? in.note_write(0) : in.note_failed();
                       added ? in.reply().bytes(to_string(*added))
                             : in.reply().error(failure_text(added.error()));
                       in.end_waiting(call);
                     }));
}

void ignore_xadd(resp_session& in, const resp_words&) {
  const auto id = to_string(stream_id{static_cast<std::uint64_t>(unix_time_ms()), 0});
  in.fill_turn(in.begin_turn(), "$" + std::to_string(id.size()) + "\r\n" + id + "\r\n");
}

// --- XRANGE, XREVRANGE, XLEN -------------------------------------------------------------------

// The error of an end that is excluded where nothing is beyond it.
constexpr std::string_view invalid_start = "ERR invalid start ID for the interval";
constexpr std::string_view invalid_end = "ERR invalid end ID for the interval";

std::string_view problem_of_end(std::string_view word, std::string_view of_excluded) {
  const bool is_excluded = word.starts_with('(') && parse_stream_id(word.substr(1), 0);
  return is_excluded ? of_excluded : invalid_id;
}

// COUNT behind the ends of a range; nothing: the words are none.
expected<std::int64_t> parse_count(const resp_words& words) {
  constexpr std::size_t plain = 4;
  if (words.size() == plain) return -1;
  if (words.size() != plain + 2 || !equal_ignoring_case(words[plain], "count"))
    return fail(errc::malformed, std::string(syntax_error));
  const auto count = parse_integer(words[plain + 1]);
  if (!count) return fail(errc::malformed, std::string(not_an_integer));
  return std::max<std::int64_t>(*count, 0);
}

void reply_range(resp_session& in, const resp_words& words, bool is_backwards) {
  const auto& first_word = words[is_backwards ? 3 : 2];
  const auto& last_word = words[is_backwards ? 2 : 3];
  const auto first = parse_range_start(first_word);
  if (!first) return in.reply().error(problem_of_end(first_word, invalid_start));
  const auto last = parse_range_end(last_word);
  if (!last) return in.reply().error(problem_of_end(last_word, invalid_end));
  const auto count = parse_count(words);
  if (!count) return in.reply().error(count.error().text());
  if (*count == 0) return in.reply().null_array();
  const auto found = in.context().streams->read(
      stream_called(in, words[1]), {*first, *last},
      *count < 0 ? unlimited : static_cast<std::size_t>(*count), is_backwards);
  if (!found) return in.reply().error(failure_text(found.error()));
  found->empty() ? in.note_miss() : in.note_hit(0);
  if (!reply_unless_sendable(in, bytes_of(*found))) reply_entries(in, *found);
}

void xrange(resp_session& in, const resp_words& words) { reply_range(in, words, false); }
void xrevrange(resp_session& in, const resp_words& words) { reply_range(in, words, true); }

void xlen(resp_session& in, const resp_words& words) {
  const auto length = in.context().streams->length(stream_called(in, words[1]));
  if (!length) return in.reply().error(failure_text(length.error()));
  in.reply().integer(static_cast<std::int64_t>(*length));
}

// --- XREAD -------------------------------------------------------------------------------------

// Streams that one command names at most.
constexpr std::size_t max_streams = 1024;
// A longer wait ends after this: the client asks again.
constexpr std::chrono::hours longest_block{24 * 30};

struct read_request {
  std::size_t count = unlimited;
  std::optional<std::chrono::milliseconds> block; // zero: for ever
  std::vector<stream_place> places;
};

expected<std::chrono::milliseconds> parse_block(std::string_view word) {
  const auto number = parse_integer(word);
  if (!number) return fail(errc::malformed, "ERR timeout is not an integer or out of range");
  if (*number < 0) return fail(errc::malformed, "ERR timeout is negative");
  return std::min<std::chrono::milliseconds>(std::chrono::milliseconds(*number), longest_block);
}

expected<stream_place> parse_place(resp_session& in, const std::string& key,
                                   const std::string& word) {
  auto name = stream_called(in, key);
  if (word == "$") {
    const auto last = in.context().streams->last_id(name);
    if (!last) return fail(errc::malformed, failure_text(last.error()));
    return stream_place{std::move(name), *last};
  }
  const auto after = parse_stream_id(word, 0);
  if (!after) return fail(errc::malformed, std::string(invalid_id));
  return stream_place{std::move(name), *after};
}

expected<read_request> parse_read(resp_session& in, const resp_words& words) {
  read_request request;
  std::size_t at = 1;
  for (; at < words.size() && !equal_ignoring_case(words[at], "streams"); at += 2) {
    if (at + 1 == words.size()) return fail(errc::malformed, std::string(syntax_error));
    if (equal_ignoring_case(words[at], "count")) {
      const auto count = parse_integer(words[at + 1]);
      if (!count) return fail(errc::malformed, std::string(not_an_integer));
      request.count = *count > 0 ? static_cast<std::size_t>(*count) : unlimited;
    } else if (equal_ignoring_case(words[at], "block")) {
      const auto block = parse_block(words[at + 1]);
      if (!block) return fail(block.error());
      request.block = *block;
    } else {
      return fail(errc::malformed, std::string(syntax_error));
    }
  }
  const auto names = at + 1;
  if (names >= words.size()) return fail(errc::malformed, std::string(syntax_error));
  const auto count = (words.size() - names) / 2;
  if ((words.size() - names) % 2 != 0)
    return fail(errc::malformed, "ERR Unbalanced XREAD list of streams: for each stream key an "
                                 "ID or '$' must be specified.");
  if (count > max_streams) return fail(errc::malformed, "ERR more than 1024 streams");
  for (std::size_t i = 0; i < count; ++i) {
    auto place = parse_place(in, words[names + i], words[names + count + i]);
    if (!place) return fail(place.error());
    request.places.push_back(std::move(*place));
  }
  return request;
}

// Replies with what is there; returns false, without a reply, when there is nothing.
bool reply_news(resp_session& in, const read_request& request) {
  std::vector<std::pair<const stream_place*, stream_entries>> news;
  std::uint64_t bytes = 0;
  for (const auto& place : request.places) {
    const auto first = next_of(place.after);
    if (!first) continue;
    auto found = in.context().streams->read(place.at, {*first, last_stream_id}, request.count);
    if (!found) {
      in.reply().error(failure_text(found.error()));
      return true;
    }
    if (found->empty()) continue;
    bytes += bytes_of(*found);
    news.emplace_back(&place, std::move(*found));
  }
  if (news.empty()) return false;
  in.note_hit(0);
  if (reply_unless_sendable(in, bytes)) return true;
  const bool is_map = in.reply().version() == 3;
  is_map ? in.reply().map(news.size()) : in.reply().array(news.size());
  for (const auto& [place, entries] : news) {
    if (!is_map) in.reply().array(2);
    in.reply().bytes(place->at.key);
    reply_entries(in, entries);
  }
  return true;
}

// A command that waits. The session keeps it until the reply or its own end, and nothing else does:
// whatever comes later finds it gone.
struct blocked_read {
  read_request request;
  std::uint64_t call;
  std::shared_ptr<void> waiting{};
};

// Waits until another client adds something. That thread only posts: this one looks again.
void wait_for_news(resp_session& in, blocked_read& read, const std::weak_ptr<blocked_read>& kept) {
  const auto look_again = [&in, kept] {
    const auto still = kept.lock();
    if (!still) return;
    if (!reply_news(in, still->request)) return wait_for_news(in, *still, kept);
    in.end_waiting(still->call);
  };
  read.waiting = in.context().streams->await(read.request.places,
                                             [weak = in.host().weak_from_this(), look_again] {
                                               if (const auto living = weak.lock())
                                                 living->post(look_again);
                                             });
}

void end_without_news(resp_session& in, const std::weak_ptr<blocked_read>& kept) {
  const auto still = kept.lock();
  if (!still) return;
  in.note_miss();
  in.reply().null_array();
  in.end_waiting(still->call);
}

void xread(resp_session& in, const resp_words& words) {
  auto parsed = parse_read(in, words);
  if (!parsed) return in.reply().error(parsed.error().text());
  if (reply_news(in, *parsed)) return;
  if (!parsed->block) {
    in.note_miss();
    return in.reply().null_array();
  }
  const auto block = *parsed->block;
  const auto read = std::make_shared<blocked_read>(blocked_read{std::move(*parsed), 0});
  read->call = in.begin_blocking(read);
  const std::weak_ptr<blocked_read> kept = read;
  if (block.count() != 0) in.host().post_after(block, [&in, kept] { end_without_news(in, kept); });
  wait_for_news(in, *read, kept);
}

constexpr resp_command stream_table[] = {
    {"xadd", -5, user_role::writer, request_kind::put, command_turn::alone, xadd, ignore_xadd},
    {"xlen", 2, user_role::reader, request_kind::exists, command_turn::alone, xlen},
    {"xrange", -4, user_role::reader, request_kind::get, command_turn::alone, xrange},
    {"xrevrange", -4, user_role::reader, request_kind::get, command_turn::alone, xrevrange},
    {"xread", -4, user_role::reader, request_kind::get, command_turn::alone, xread},
};

} // namespace

std::span<const resp_command> stream_commands() noexcept { return stream_table; }

} // namespace hearth::server
