#include "storage/remote/purge_log.hpp"

#include "messages/hash.hpp"
#include "messages/hex.hpp"
#include "storage/remote/scripts.hpp"

#include <charconv>
#include <utility>

namespace hearth::storage {
namespace {

using kind = resp_value::kind;

constexpr std::string_view mark_magic = "hearth-fleet-2";
constexpr std::string_view old_mark_magic = "hearth-fleet-1";
constexpr std::string_view removed_for_ms = "86400000";
constexpr std::string_view start_of_mark = "hearth removed ";

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto* const end = digits.data() + digits.size();
  const auto [stopped, failed] = std::from_chars(digits.data(), end, number);
  if (failed != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

// Damage of a mark, and a mark of another log.
std::string check_of(std::string_view magic, std::string_view server, std::string_view log,
                     std::string_view place) {
  std::string all(magic);
  for (const auto part : {server, log, place})
    all.append("\n").append(part);
  return std::to_string(fast_hash(all));
}

// Two numbers with a dash between them.
std::optional<std::pair<std::uint64_t, std::uint64_t>> pair_of(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = number_of(text.substr(0, dash));
  const auto second = number_of(text.substr(dash + 1));
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

std::optional<logged_change> change_of(std::string_view text) {
  const auto numbers = pair_of(text);
  if (!numbers) return std::nullopt;
  return logged_change{numbers->first, numbers->second};
}

std::optional<logged_purge> purge_of(const resp_value& item) {
  if (item.type != kind::array || item.items.size() != 2) return std::nullopt;
  const auto& fields = item.items[1];
  const auto place = log_place_of(item.items[0].text);
  if (!place || fields.type != kind::array) return std::nullopt;
  logged_purge made;
  made.place = *place;
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    const auto& name = fields.items[i].text;
    const auto& text = fields.items[i + 1].text;
    if (name == "s") made.writer.store = text;
    if (name == "p") made.writer.process = text;
    if (name == "o") made.is_put = text == "put";
    if (name == "o") made.is_whole = text == "clear";
    if (name == "c") made.cache = text;
    if (name == "v") made.version = text;
    if (name == "k") made.key = text;
    if (name == "t") made.told = text;
    if (name == "n") made.change = change_of(text);
  }
  return made;
}

} // namespace

std::string to_string(const log_place& place) {
  return std::to_string(place.time) + "-" + std::to_string(place.number);
}

std::optional<log_place> log_place_of(std::string_view text) {
  const auto numbers = pair_of(text);
  if (!numbers) return std::nullopt;
  return log_place{numbers->first, numbers->second};
}

std::string purge_log_name(std::string_view prefix) {
  return std::string(prefix).append(":purges");
}

std::string removed_mark(std::string_view which) {
  const auto hash = fast_hash_128(which);
  std::string mark(start_of_mark);
  append_hex(mark, hash.view());
  return mark;
}

bool is_removed_mark(std::string_view start) {
  return start.size() == removed_mark_bytes && start.starts_with(start_of_mark);
}

remote_command remove_command(std::string name, std::string mark) {
  return {"SET", std::move(name), std::move(mark), "PX", std::string(removed_for_ms)};
}

remote_command replace_mark_command(std::string name, std::string mark, std::string bytes,
                                    std::chrono::milliseconds ttl) {
  remote_command made{"EVAL", std::string(text_of(remote_script::replace_mark)), "1",
                      std::move(name), std::move(mark)};
  made.push_back(std::move(bytes));
  made.push_back(std::to_string(ttl.count()));
  return made;
}

namespace {

remote_command log_command(std::string log, const log_writer& writer, const char* what,
                           const cache_id& cache, std::string key) {
  return {"XADD",
          std::move(log),
          "MAXLEN",
          "~",
          std::to_string(max_logged_purges),
          "*",
          "s",
          writer.store,
          "p",
          writer.process,
          "o",
          what,
          "c",
          cache.name(),
          "v",
          cache.version(),
          "k",
          std::move(key)};
}

// Text as a pattern that only it matches.
std::string as_pattern(std::string_view text) {
  std::string pattern;
  for (const char one : text) {
    if (std::string_view("*?[]\\^-").find(one) != std::string_view::npos) pattern += '\\';
    pattern += one;
  }
  return pattern;
}

} // namespace

remote_command log_purge_command(std::string log, const log_writer& writer, bool is_put,
                                 const cache_key& key, const std::string& told,
                                 const std::optional<logged_change>& change) {
  auto made = log_command(std::move(log), writer, is_put ? "put" : "erase", key.cache->id,
                          std::string(std::string_view(key.bytes)));
  if (change) {
    made.push_back("n");
    made.push_back(std::to_string(change->journal) + "-" + std::to_string(change->number));
  }
  if (!told.empty()) {
    made.push_back("t");
    made.push_back(told);
  }
  return made;
}

remote_command log_clear_command(std::string log, const log_writer& writer, const cache_id& cache) {
  return log_command(std::move(log), writer, "clear", cache, {});
}

remote_command find_entries_command(const remote_naming& naming, const cache_id& cache,
                                    std::string cursor) {
  constexpr const char* at_once = "1000";
  return {"SCAN",  std::move(cursor),
          "MATCH", as_pattern(start_of_names(naming, cache)) + "*",
          "COUNT", at_once};
}

std::optional<found_names> found_entries(const resp_value& reply, const remote_naming& naming,
                                         const cache_id& cache) {
  constexpr std::string_view end_of_set = ":set"; // an entry ends with its hash, a lease otherwise
  if (reply.type != kind::array || reply.items.size() != 2) return std::nullopt;
  if (reply.items[1].type != kind::array) return std::nullopt;
  const auto size = start_of_names(naming, cache).size() + hash_size(naming);
  found_names found{reply.items[0].text, {}, {}};
  for (const auto& name : reply.items[1].items) {
    const std::string_view text = name.text;
    if (text.size() == size) found.names.emplace_back(text);
    if (text.size() == size + end_of_set.size() && text.ends_with(end_of_set))
      found.sets.emplace_back(text);
  }
  return found;
}

remote_command read_log_command(std::string log, const log_place& from) {
  return {"XRANGE", std::move(log), to_string(from), "+", "COUNT", std::to_string(max_read_purges)};
}

remote_command last_of_log_command(std::string log) {
  return {"XREVRANGE", std::move(log), "+", "-", "COUNT", "1"};
}

remote_command await_log_command(std::string log, const log_place& after) {
  return {"XREAD",        "COUNT",         std::to_string(max_read_purges), "BLOCK", "0", "STREAMS",
          std::move(log), to_string(after)};
}

std::optional<std::vector<logged_purge>> logged_purges(const resp_value& reply) {
  std::vector<logged_purge> all;
  if (reply.is_null()) return all;
  if (reply.type != kind::array) return std::nullopt;
  for (const auto& item : reply.items) {
    auto one = purge_of(item);
    if (!one || (!all.empty() && one->place <= all.back().place)) return std::nullopt;
    all.push_back(std::move(*one));
  }
  return all;
}

std::optional<std::vector<logged_purge>> awaited_purges(const resp_value& reply) {
  if (reply.is_null()) return std::vector<logged_purge>();
  if (reply.type == kind::map) // RESP3
    return reply.items.size() == 2 ? logged_purges(reply.items[1]) : std::nullopt;
  if (reply.type != kind::array || reply.items.size() != 1) return std::nullopt;
  const auto& stream = reply.items[0];
  if (stream.type != kind::array || stream.items.size() != 2) return std::nullopt;
  return logged_purges(stream.items[1]);
}

std::string name_of_log(std::string_view server, std::string_view log) {
  std::string name;
  append_hex(name, fast_hash_128(std::string(server).append("\n").append(log)).view());
  return name;
}

std::string log_mark(std::string_view server, std::string_view log, const log_place& place) {
  const auto text = to_string(place);
  return std::string(mark_magic) + " " + name_of_log(server, log) + "\n" + text + "\n" +
         check_of(mark_magic, server, log, text) + "\n";
}

namespace {

// Takes the mark at the start of `marks` off: three lines. Empty: there is none.
std::string_view take_mark(std::string_view& marks) {
  if (!marks.starts_with(mark_magic)) return {};
  std::size_t end = 0;
  for (int line = 0; line < 3; ++line) {
    end = marks.find('\n', end);
    if (end == std::string_view::npos) return {};
    ++end;
  }
  const auto mark = marks.substr(0, end);
  marks.remove_prefix(end);
  return mark;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// The mark of a version that kept one a store.
std::optional<log_place> place_in_old_mark(std::string_view mark, std::string_view server,
                                           std::string_view log) {
  const auto begin = old_mark_magic.size() + 1;
  if (!mark.starts_with(old_mark_magic) || mark.size() < begin) return std::nullopt;
  const auto text = first_line(mark.substr(begin));
  const auto place = log_place_of(text);
  if (!place) return std::nullopt;
  const auto expected = std::string(old_mark_magic) + "\n" + to_string(*place) + "\n" +
                        check_of(old_mark_magic, server, log, to_string(*place)) + "\n";
  return mark == expected ? place : std::nullopt;
}

} // namespace

std::string add_mark(std::string_view marks, std::string_view mark) {
  constexpr std::size_t max_marks = 16;
  std::vector<std::string_view> kept;
  for (auto one = take_mark(marks); !one.empty(); one = take_mark(marks))
    if (first_line(one) != first_line(mark)) kept.push_back(one);
  std::string all;
  for (auto i = kept.size() < max_marks ? 0 : kept.size() + 1 - max_marks; i < kept.size(); ++i)
    all += kept[i];
  return all.append(mark);
}

std::optional<log_place> place_in_marks(std::string_view marks, std::string_view server,
                                        std::string_view log) {
  if (const auto place = place_in_old_mark(marks, server, log)) return place;
  for (auto mark = take_mark(marks); !mark.empty(); mark = take_mark(marks)) {
    const auto text = first_line(mark.substr(first_line(mark).size() + 1));
    const auto place = log_place_of(text);
    if (place && mark == log_mark(server, log, *place)) return place;
  }
  return std::nullopt;
}

} // namespace hearth::storage
