// RESP replies and requests: bytes mean the same in one piece and in many, the limits hold, and a
// request that was read and written again is read as the same request.
#include "storage/resp/resp_parser.hpp"
#include "storage/resp/resp_writer.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace hearth::storage;
using namespace hearth::fuzz;

namespace {

constexpr resp_limits limits{1u << 16, 256, 5, 512, 600};

void check_limits(const resp_value& value, std::uint64_t& items, std::uint64_t& bytes,
                  std::uint32_t depth) {
  require(value.items.empty() || depth < limits.depth, "nested deeper than the limit");
  items += value.items.size();
  bytes += value.text.size();
  for (const auto& item : value.items)
    check_limits(item, items, bytes, depth + 1);
}

std::string shown(const resp_value& value) {
  std::string text = std::to_string(static_cast<int>(value.type)) + ":" +
                     std::to_string(value.integer) + ":" + std::to_string(value.text.size()) + ":" +
                     value.text + "(";
  for (const auto& item : value.items)
    text += shown(item);
  return text + ")";
}

void check_written_again(const resp_value& request) {
  std::vector<std::string> words;
  for (const auto& item : request.items)
    words.push_back(item.text);
  std::string written;
  append_command(written, words);
  resp_parser parser({1u << 20, 300, 1, 64, 100}, resp_side::client);
  resp_value again;
  std::string_view rest = written;
  require(parser.take(rest, again) == resp_parser::outcome::value, "what was written is not read");
  require(rest.empty() && shown(again) == shown(request), "it is read as something else");
}

// All values that were read, and how the input ended.
std::string read_all(std::string_view bytes, std::size_t piece, resp_side side) {
  resp_parser parser(limits, side);
  resp_value value;
  std::string all;
  while (!bytes.empty()) {
    auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    for (;;) {
      const auto got = parser.take(part, value);
      if (got == resp_parser::outcome::broken) return all + "broken " + parser.problem();
      if (got == resp_parser::outcome::more) break;
      std::uint64_t items = 0;
      std::uint64_t size = 0;
      check_limits(value, items, size, 0);
      require(items <= limits.items && size <= limits.bytes, "more than the limits");
      if (side == resp_side::client) check_written_again(value);
      all += shown(value);
    }
  }
  return all + (parser.is_between_values() ? "end" : "more");
}

// The words of all requests, and how the input ended; by `next_request`, which has a way of its own
// for requests that are in the buffer as a whole, or by `next`.
std::string read_words(std::string_view bytes, std::size_t piece, bool by_request) {
  resp_parser parser(limits, resp_side::client);
  std::vector<std::string> words;
  std::string all;
  while (!bytes.empty()) {
    const auto room = parser.room();
    const auto count = std::min({room.size(), piece, bytes.size()});
    std::copy_n(bytes.data(), count, room.data());
    bytes.remove_prefix(count);
    parser.filled(count);
    for (;;) {
      resp_value request;
      const auto got = by_request ? parser.next_request(words) : parser.next(request);
      if (got == resp_parser::outcome::broken) return all + "broken " + parser.problem();
      if (got == resp_parser::outcome::more) break;
      if (!by_request) {
        words.clear();
        for (auto& item : request.items)
          words.push_back(std::move(item.text));
      }
      all += std::to_string(words.size()) + ';';
      for (const auto& word : words)
        all += std::to_string(word.size()) + ':' + word;
    }
  }
  return all + (parser.is_between_values() ? "end" : "more");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto bytes = text_of(data, size);
  const std::size_t piece = 1 + take_byte(bytes) % 32;
  for (const auto side : {resp_side::server, resp_side::client}) {
    const auto whole = read_all(bytes, std::max<std::size_t>(bytes.size(), 1), side);
    const auto pieces = read_all(bytes, piece, side);
    if (pieces != whole)
      std::fprintf(stderr, "whole: %s\npieces: %s\n", whole.c_str(), pieces.c_str());
    require(pieces == whole, "in pieces it is something else");
  }
  for (const auto step : {std::max<std::size_t>(bytes.size(), 1), piece})
    require(read_words(bytes, step, true) == read_words(bytes, step, false),
            "a whole request is read as something else");
  return 0;
}
