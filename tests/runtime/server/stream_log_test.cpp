#include "runtime/server/streams/stream_log.hpp"

#include "tests/support/files.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace hearth;
using namespace hearth::test;
using namespace hearth::server;

namespace {

constexpr std::uint64_t for_ever = ~std::uint64_t{0};

// Streams over a file, by a clock that the test sets.
struct bench {
  bench() { open(); }
  std::filesystem::path file() const { return directory / "streams"; }
  // As a new process does.
  void open(stream_limits limits = {}) {
    streams.reset();
    streams = std::make_shared<stream_log>(stream_settings{
        .file = file(), .run = {}, .now_ms = [this] { return now; }, .log = {}, .limits = limits});
    problem = streams->open();
  }
  expected<stream_id> add(const stream_name& at, const std::string& text,
                          std::uint64_t max_length = for_ever) {
    expected<stream_id> given;
    streams->append(at, {"n", text}, max_length, [&](expected<stream_id> id) { given = id; });
    return given;
  }
  // The texts that a client of the name's namespace sees, with blanks between them.
  std::string texts(const stream_name& at, bool is_backwards = false, std::size_t count = 1000,
                    stream_range range = {}) const {
    std::string all;
    const auto found = streams->read(at, range, count, is_backwards);
    REQUIRE(found.has_value());
    for (const auto& one : *found)
      all.append(all.empty() ? "" : " ").append(one->words.at(1));
    return all;
  }

  temporary_directory directory;
  std::int64_t now = 1000;
  std::shared_ptr<stream_log> streams;
  expected<void> problem;
};

const stream_name log_name{{}, 0, "log"};
const stream_name pull_log{"pull", 0, "log"};

} // namespace

TEST_CASE("stream log: what was added is there after a restart, and ids grow whatever the clock") {
  bench one;
  const auto first = one.add(log_name, "a").value();
  CHECK(to_string(first) == "1000-0");
  CHECK(to_string(one.add(log_name, "b").value()) == "1000-1");
  one.now = 500;
  one.open();
  CHECK(one.texts(log_name) == "a b");
  CHECK(to_string(one.add(log_name, "c").value()) == "1000-2");
  // Also when the entries with the latest ids are gone.
  one.streams->erase(log_name, [](const expected<bool>& gone) { CHECK(gone.value()); });
  one.open();
  CHECK_FALSE(one.streams->has(log_name));
  CHECK(to_string(one.add(log_name, "d").value()) == "1000-3");
  one.now = 2000;
  CHECK(to_string(one.add(log_name, "e").value()) == "2000-0");
}

TEST_CASE("stream log: a namespace reads the trusted stream and its own in one order") {
  bench one;
  one.add(log_name, "t1").value();
  one.add(pull_log, "p1").value();
  const auto middle = one.add(log_name, "t2").value();
  one.add(pull_log, "p2").value();
  CHECK(one.texts(pull_log) == "t1 p1 t2 p2");
  CHECK(one.texts(pull_log, true) == "p2 t2 p1 t1");
  CHECK(one.texts(pull_log, false, 3) == "t1 p1 t2");
  CHECK(one.texts(pull_log, true, 1) == "p2");
  CHECK(one.texts(pull_log, false, 10, {middle, last_stream_id}) == "t2 p2");
  CHECK(one.texts(log_name) == "t1 t2");
  CHECK(one.texts({"other", 0, "log"}) == "t1 t2");
  CHECK(one.texts({{}, 1, "log"}).empty());
  CHECK(one.streams->length(pull_log).value() == 4);
}

TEST_CASE("stream log: before what either stream has lost, a namespace sees nothing") {
  bench one;
  one.add(pull_log, "p1").value();
  one.add(log_name, "t1").value();
  one.add(log_name, "t2", 1).value();
  for (int i = 0; i < 2; ++i) {
    CHECK(one.texts(pull_log) == "t2"); // p1 would hide that t1 is gone
    CHECK(one.streams->length(pull_log).value() == 1);
    CHECK(one.texts(log_name) == "t2");
    one.open(); // the same after a restart
  }
  one.add(pull_log, "p2", 0).value();
  CHECK(one.texts(pull_log).empty());
  CHECK(one.texts(log_name) == "t2");
}

TEST_CASE("stream log: a torn end is cut off, all before it stays") {
  bench one;
  one.add(log_name, "a").value();
  one.add(log_name, "b").value();
  one.streams.reset();
  const auto whole = file_text(one.file());
  stream_record last;
  last.at = log_name;
  last.id = {1000, 1};
  last.words = {"n", "b"};
  const auto end = whole.size() - encode(last).size();
  for (const auto size : {end, end + 1, end + 11, end + 13, whole.size() - 1}) {
    one.streams.reset();
    write_text(one.file(), whole.substr(0, size));
    one.open();
    CHECK(one.texts(log_name) == "a");
    CHECK(std::filesystem::file_size(one.file()) == end);
  }
  auto damaged = whole;
  damaged.back() ^= 1;
  for (const auto& text : {damaged, whole + std::string(100, '\0'), whole + "garbage"}) {
    one.streams.reset();
    write_text(one.file(), text);
    one.open();
    CHECK(one.texts(log_name) == (text == damaged ? "a" : "a b"));
    one.add(log_name, "c").value();
    one.open();
    CHECK(one.texts(log_name).ends_with(" c"));
  }
}

TEST_CASE("stream log: the file does not grow for ever, and nothing is rewritten for each entry") {
  bench one;
  const std::string text(10'000, 'v');
  std::uintmax_t largest = 0;
  int shrinks = 0;
  auto before = std::filesystem::file_size(one.file());
  for (int i = 0; i < 2000; ++i) {
    one.add(log_name, text, 10).value();
    const auto size = std::filesystem::file_size(one.file());
    shrinks += size < before ? 1 : 0;
    before = size;
    largest = std::max(largest, size);
  }
  CHECK(largest < 5u << 20); // of 20 MB
  CHECK(shrinks > 0);
  CHECK(shrinks < 10);
  const auto last = one.streams->last_id(log_name).value();
  one.open();
  CHECK(one.streams->length(log_name).value() == 10);
  CHECK(one.streams->last_id(log_name).value() == last);
  // What was trimmed before the file was made anew still counts as lost.
  one.add(pull_log, "p").value();
  CHECK(one.streams->length(pull_log).value() == 11);
}

TEST_CASE("stream log: one process keeps the file, another one is told and gets it later") {
  bench one;
  one.add(log_name, "a").value();
  auto other =
      std::make_shared<stream_log>(stream_settings{.file = one.file(),
                                                   .run = {},
                                                   .now_ms = [] { return std::int64_t{1}; },
                                                   .log = {},
                                                   .limits = {}});
  CHECK(other->open().error().code() == errc::busy);
  CHECK(other->read(log_name, {}, 1).error().code() == errc::busy);
  expected<stream_id> given;
  const auto add = [&] {
    other->append(log_name, {"n", "b"}, {}, [&](expected<stream_id> id) { given = id; });
  };
  add();
  CHECK(given.error().code() == errc::busy);
  one.streams.reset();
  add();
  CHECK(to_string(given.value()) == "1000-1");
  CHECK(other->length(log_name).value() == 2);
}

TEST_CASE("stream log: a file of something else is left alone") {
  bench one;
  one.streams.reset();
  write_text(one.file(), "some notes of mine");
  one.open();
  CHECK(one.problem.error().code() == errc::malformed);
  CHECK(one.add(log_name, "a").error().code() == errc::malformed);
  CHECK(file_text(one.file()) == "some notes of mine");
}

TEST_CASE("stream log: a namespace has limits of its own") {
  bench one;
  one.open({.streams = 2, .bytes = 1200, .entry_bytes = 500});
  CHECK(one.add(log_name, std::string(600, 'v')).error().code() == errc::no_space);
  CHECK(one.add(pull_log, std::string(300, 'v')).has_value());
  CHECK(one.add(pull_log, std::string(300, 'v')).has_value());
  CHECK(one.add(pull_log, std::string(300, 'v')).error().code() == errc::no_space);
  CHECK(one.add(pull_log, std::string(300, 'v'), 2).has_value()); // the first one goes
  CHECK(one.add(log_name, std::string(300, 'v')).has_value());
  CHECK(one.add({"pull", 0, "b"}, "").has_value());
  CHECK(one.add({"pull", 0, "c"}, "").error().code() == errc::no_space);
  CHECK(one.streams->length(pull_log).value() == 3);
}

TEST_CASE("stream log: a waiter is called once, for what it has not seen") {
  bench one;
  const auto first = one.add(log_name, "a").value();
  int calls = 0;
  const auto count = [&] { ++calls; };
  auto waiting = one.streams->await({{log_name, {}}}, count);
  CHECK(calls == 1); // it is there already
  waiting = one.streams->await({{log_name, first}, {{{}, 0, "other"}, {}}}, count);
  one.add(pull_log, "p").value();
  CHECK(calls == 1);
  one.add(log_name, "b").value();
  one.add(log_name, "c").value();
  CHECK(calls == 2);
  // A waiter of a namespace hears both; one that is gone hears nothing.
  waiting = one.streams->await({{pull_log, one.streams->last_id(pull_log).value()}}, count);
  auto gone = one.streams->await({{log_name, one.streams->last_id(log_name).value()}}, count);
  gone.reset();
  one.add(log_name, "d").value();
  CHECK(calls == 3);
}

TEST_CASE("stream ids: words of clients") {
  CHECK(parse_stream_id("5", 7) == stream_id{5, 7});
  CHECK(parse_stream_id("5-6", 7) == stream_id{5, 6});
  for (const auto* const word : {"", "-", "5-", "-5", "5-6-7", "+5", "5 ", "99999999999999999999"})
    CHECK_FALSE(parse_stream_id(word, 0));
  CHECK(parse_range_start("-") == stream_id{});
  CHECK(parse_range_end("+") == last_stream_id);
  CHECK(parse_range_start("5") == stream_id{5, 0});
  CHECK(parse_range_end("5") == stream_id{5, ~std::uint64_t{0}});
  CHECK(parse_range_start("(5-6") == stream_id{5, 7});
  CHECK(parse_range_end("(5-0") == stream_id{4, ~std::uint64_t{0}});
  CHECK_FALSE(parse_range_end("(0-0"));
}
