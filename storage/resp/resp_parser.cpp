#include "storage/resp/resp_parser.hpp"

#include "storage/resp/resp_words.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace hearth::storage {
namespace {

// From how many missing bytes on a bulk string is received directly, not through the buffer; and
// how many items to allocate before any of them has arrived.
constexpr std::uint64_t direct_from_bytes = 4u << 10;
constexpr std::uint64_t eager_items = 64;
// Receives this many values of the last one's size at once, within this many times the usual buffer
// size.
constexpr std::uint64_t received_values = 4;
constexpr std::uint64_t max_buffers = 4;

// Whether a value may begin with this character.
bool is_mark(char c) {
  return std::string_view("+-:$*_,#!=(%~>|").find(c) != std::string_view::npos;
}

// The number of `mark DIGITS CR LF` at the front, which is removed. Empty for every other form, and
// for numbers of more than four digits.
std::optional<std::size_t> take_short_number(std::string_view& bytes, char mark) {
  constexpr std::size_t most_digits = 4;
  if (bytes.empty() || bytes[0] != mark) return std::nullopt;
  std::size_t number = 0, at = 1;
  for (; at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9'; ++at)
    number = number * 10 + static_cast<std::size_t>(bytes[at] - '0');
  const auto digits = at - 1;
  if (digits == 0 || digits > most_digits || (digits > 1 && bytes[1] == '0')) return std::nullopt;
  if (bytes.substr(at, 2) != "\r\n") return std::nullopt;
  bytes.remove_prefix(at + 2);
  return number;
}

} // namespace

resp_parser::resp_parser(resp_limits limits, resp_side from)
    : limits_(limits)
    , from_(from)
    , receives_(limits.buffer_bytes) {}

bool resp_parser::is_between_values() const noexcept {
  return step_ == step::line && open_.empty() && begin_ == end_;
}

std::span<char> resp_parser::room() {
  const auto left = bulk_bytes_ - bulk_received_;
  direct_ = step_ == step::bulk && begin_ == end_ && left >= direct_from_bytes;
  if (direct_) {
    grow_bulk();
    return {bulk_.text.data() + bulk_received_, bulk_.text.size() - bulk_received_};
  }
  if (buffer_.size() < receives_) buffer_.resize(receives_);
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  // What is left in the buffer is a part of a line, which may be longer than usual.
  constexpr std::size_t line_end_bytes = 2;
  if (end_ == buffer_.size())
    buffer_.resize(std::max(end_ + 1, std::min(2 * end_, limits_.line_bytes + 2 * line_end_bytes)));
  return {buffer_.data() + end_, (end_ < receives_ ? receives_ : buffer_.size()) - end_};
}

void resp_parser::filled(std::size_t count) {
  if (direct_)
    bulk_received_ += count;
  else
    end_ += count;
  direct_ = false;
}

resp_parser::outcome resp_parser::take(std::string_view& input, resp_value& out) {
  for (;;) {
    const auto got = next(out);
    if (got != outcome::more || input.empty()) return got;
    const auto to = room();
    const auto count = std::min(to.size(), input.size());
    std::memcpy(to.data(), input.data(), count);
    input.remove_prefix(count);
    filled(count);
  }
}

resp_parser::outcome resp_parser::next(resp_value& out) {
  while (*problem_ == '\0') {
    const auto before = begin_;
    const auto at = step_;
    bool done = false;
    switch (step_) {
    case step::line: done = read_line(out); break;
    case step::bulk: done = read_bulk(); break;
    case step::bulk_end: done = read_bulk_end(out); break;
    }
    if (done) return outcome::value;
    if (*problem_ == '\0' && begin_ == before && step_ == at) return outcome::more;
  }
  return outcome::broken;
}

resp_parser::outcome resp_parser::next_request(std::vector<std::string>& words) {
  if (take_whole_request(words)) return outcome::value;
  resp_value request;
  const auto got = next(request);
  if (got != outcome::value) return got;
  words.resize(request.items.size());
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = std::move(request.items[i].text);
  return got;
}

// Takes a request of short bulk strings that is in the buffer as a whole, the performance-critical
// case. Returns false and takes nothing when it is anything else.
bool resp_parser::take_whole_request(std::vector<std::string>& words) {
  if (step_ != step::line || !open_.empty() || *problem_ != '\0') return false;
  std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  const auto count = take_short_number(rest, '*');
  if (!count || *count == 0 || *count > std::min<std::uint64_t>(limits_.items, eager_items))
    return false;
  words.resize(*count);
  std::uint64_t bytes = 0, last = 0;
  for (auto& word : words) {
    const auto size = take_short_number(rest, '$');
    if (!size || rest.substr(std::min(*size, rest.size()), 2) != "\r\n") return false;
    word.assign(rest.substr(0, *size));
    rest.remove_prefix(*size + 2);
    bytes += last = *size;
  }
  if (bytes > limits_.bytes) return false;
  begin_ = scanned_ = end_ - rest.size();
  expect_values_of(last);
  return true;
}

// Receives as much at once as is useful for values of this size.
void resp_parser::expect_values_of(std::uint64_t bytes) {
  receives_ = std::clamp<std::uint64_t>(received_values * bytes, limits_.buffer_bytes,
                                        max_buffers * limits_.buffer_bytes);
}

bool resp_parser::find_line(std::string_view& line) {
  // Refuses a wrong first character at once, instead of waiting for the end of the line.
  if (from_ == resp_side::server && end_ > begin_ && !is_mark(buffer_[begin_]))
    return refuse("a line that is no RESP");
  const auto* from = buffer_.data() + scanned_;
  const auto* feed = end_ > scanned_
                         ? static_cast<const char*>(std::memchr(from, '\n', end_ - scanned_))
                         : nullptr;
  const auto line_end = feed ? static_cast<std::size_t>(feed - buffer_.data()) : end_;
  if (line_end - begin_ > limits_.line_bytes + 1)
    return refuse(from_ == resp_side::client ? "too big inline request" : "a line above the limit");
  scanned_ = line_end;
  if (!feed) return false;
  line = {buffer_.data() + begin_, line_end - begin_};
  begin_ = scanned_ = line_end + 1;
  if (!line.empty() && line.back() == '\r') {
    line.remove_suffix(1);
  } else if (from_ == resp_side::server || line.starts_with('*') || !open_.empty()) {
    return refuse("a line that does not end in CR LF");
  }
  if (line.find('\r') != std::string_view::npos) return refuse("a CR inside a line");
  return true;
}

bool resp_parser::read_line(resp_value& out) {
  std::string_view line;
  if (!find_line(line)) return false;
  return from_ == resp_side::client ? take_request_line(line, out) : take_line(line, out);
}

bool resp_parser::take_request_line(std::string_view line, resp_value& out) {
  if (!open_.empty()) {
    if (!line.starts_with('$')) return refuse("an item of a request that is no bulk string");
    if (line.starts_with("$-")) return refuse("invalid bulk length");
    return start_bulk('$', line.substr(1), out);
  }
  if (line.starts_with('*')) {
    const auto count = length_in(line.substr(1));
    if (!count) return refuse("invalid multibulk length");
    if (*count <= 0) return false; // Redis ignores these, too
    if (static_cast<std::uint64_t>(*count) > limits_.items)
      return refuse("invalid multibulk length");
    return start_aggregate(resp_value::kind::array, line.substr(1), out);
  }
  auto words = split_words(line);
  if (!words) return refuse("unbalanced quotes in request");
  if (words->empty()) return false;
  if (words->size() > limits_.items) return refuse("more items than the limit");
  resp_value request;
  request.type = resp_value::kind::array;
  for (auto& word : *words) {
    auto& item = request.items.emplace_back();
    item.type = resp_value::kind::bytes;
    item.text = std::move(word);
  }
  return complete(std::move(request), out);
}

bool resp_parser::take_line(std::string_view line, resp_value& out) {
  using kind = resp_value::kind;
  if (line.empty()) return refuse("a line that is no RESP");
  const auto rest = line.substr(1);
  switch (line.front()) {
  case '$':
  case '=':
  case '!': return start_bulk(line.front(), rest, out);
  case '*': return start_aggregate(kind::array, rest, out);
  case '%': return start_aggregate(kind::map, rest, out);
  case '~': return start_aggregate(kind::set, rest, out);
  case '>': return start_aggregate(kind::push, rest, out);
  case '|': return start_aggregate(kind::null, rest, out);
  default: break;
  }
  auto value = parse_scalar(line);
  if (!value) return refuse("a line that is no RESP");
  if (value->text.size() > limits_.bytes - bytes_seen_) return refuse("a value above the limit");
  bytes_seen_ += value->text.size();
  return complete(std::move(*value), out);
}

// A length or count. Of a client in the one form that Redis takes.
std::optional<std::int64_t> resp_parser::length_in(std::string_view digits) const {
  return from_ == resp_side::client ? parse_canonical_integer(digits) : parse_integer(digits);
}

bool resp_parser::start_bulk(char mark, std::string_view length, resp_value& out) {
  if (mark == '$' && length == "-1") return complete({}, out);
  const auto bytes = length_in(length);
  if (!bytes || *bytes < 0 || static_cast<std::uint64_t>(*bytes) > limits_.bulk_bytes)
    return refuse(from_ == resp_side::client ? "invalid bulk length"
                                             : "a length that is no number");
  if (static_cast<std::uint64_t>(*bytes) > limits_.bytes - bytes_seen_)
    return refuse("a bulk string above the limit");
  bulk_bytes_ = static_cast<std::uint64_t>(*bytes);
  bulk_ = {};
  bulk_.text.reserve(std::min(bulk_bytes_, limits_.eager_bytes));
  bulk_.type = mark == '!' ? resp_value::kind::error : resp_value::kind::bytes;
  verbatim_ = mark == '=';
  bulk_received_ = 0;
  bytes_seen_ += bulk_bytes_;
  expect_values_of(bulk_bytes_);
  step_ = step::bulk;
  return false;
}

void resp_parser::grow_bulk() {
  if (bulk_received_ < bulk_.text.size()) return;
  bulk_.text.resize(std::min(bulk_bytes_, std::max(limits_.eager_bytes, 4 * bulk_received_)));
}

bool resp_parser::read_bulk() {
  const auto count = std::min<std::uint64_t>(end_ - begin_, bulk_bytes_ - bulk_received_);
  // Overwrites the room that was made for direct reception, and appends the rest, so that no byte
  // is written twice.
  const auto* const from = buffer_.data() + begin_;
  const auto room = std::min<std::uint64_t>(count, bulk_.text.size() - bulk_received_);
  std::memcpy(bulk_.text.data() + bulk_received_, from, room);
  bulk_.text.append(from + room, count - room);
  bulk_received_ += count;
  begin_ += count;
  scanned_ = begin_;
  if (bulk_received_ == bulk_bytes_) step_ = step::bulk_end;
  return false;
}

bool resp_parser::read_bulk_end(resp_value& out) {
  if (end_ - begin_ < 2) return false;
  if (buffer_[begin_] != '\r' || buffer_[begin_ + 1] != '\n')
    return refuse("a bulk string that does not end in CR LF");
  begin_ = scanned_ = begin_ + 2;
  step_ = step::line;
  if (verbatim_) {
    if (bulk_.text.size() < 4 || bulk_.text[3] != ':')
      return refuse("a verbatim text without type");
    bulk_.text.erase(0, 4);
  }
  return complete(std::move(bulk_), out);
}

bool resp_parser::start_aggregate(resp_value::kind kind, std::string_view count, resp_value& out) {
  const bool dropped = kind == resp_value::kind::null;
  const bool pairs = dropped || kind == resp_value::kind::map;
  if (kind == resp_value::kind::array && count == "-1") return complete({}, out);
  const auto parsed = length_in(count);
  if (!parsed || *parsed < 0) return refuse("a count that is no number");
  const auto items = static_cast<std::uint64_t>(*parsed);
  if (items > (limits_.items - items_seen_) / (pairs ? 2 : 1))
    return refuse("more items than the limit");
  if (open_.size() >= limits_.depth) return refuse("nested deeper than the limit");
  if (items == 0 && dropped) return false;
  open_aggregate(kind, pairs ? 2 * items : items, dropped);
  if (items > 0) return false;
  auto empty = std::move(open_.back().value);
  open_.pop_back();
  return complete(std::move(empty), out);
}

void resp_parser::open_aggregate(resp_value::kind kind, std::uint64_t items, bool dropped) {
  auto& opened = open_.emplace_back();
  opened.value.type = kind;
  opened.missing = items;
  opened.dropped = dropped;
  opened.value.items.reserve(std::min(items, eager_items));
  items_seen_ += items;
}

// Adds a value to the aggregate that contains it, and each completed aggregate to its parent.
bool resp_parser::complete(resp_value value, resp_value& out) {
  while (!open_.empty()) {
    auto& top = open_.back();
    top.value.items.push_back(std::move(value));
    if (--top.missing > 0) return false;
    const bool dropped = top.dropped;
    value = std::move(top.value);
    open_.pop_back();
    if (dropped) return false;
  }
  out = std::move(value);
  items_seen_ = bytes_seen_ = 0;
  return true;
}

bool resp_parser::refuse(const char* problem) {
  problem_ = problem;
  return false;
}

} // namespace hearth::storage
