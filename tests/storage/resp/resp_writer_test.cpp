// Commands as the bytes that are sent.
#include "storage/resp/resp_writer.hpp"

#include "storage/resp/resp_parser.hpp"

#include <doctest/doctest.h>

namespace resp_writer_test {

using namespace hearth::storage;
using namespace std::string_literals;

namespace {

std::string joined(const resp_writer& writer) {
  std::string bytes;
  for (const auto piece : writer.pieces())
    bytes += piece;
  return bytes;
}

} // namespace

TEST_CASE("resp writer: a command is an array of bulk strings") {
  std::string bytes;
  append_command(bytes, std::vector<std::string>{"SET", "", "a\0b"s});
  CHECK(bytes == "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\na\0b\r\n"s);
}

TEST_CASE("resp writer: small commands share pieces, large arguments are not copied") {
  resp_writer writer;
  for (int i = 0; i < 100; ++i)
    writer.add({"GET", "k" + std::to_string(i)});
  CHECK(writer.pieces().size() == 1);
  std::string large(resp_writer::own_piece_bytes, 'x');
  const auto* where = large.data();
  std::vector<std::string> command{"SET", "k"};
  command.push_back(std::move(large));
  writer.add(std::move(command));
  const auto pieces = writer.pieces();
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[1].data() == where);
  CHECK(pieces[2] == "\r\n");
}

TEST_CASE("resp writer: after clear it is empty, and keeps no large argument") {
  resp_writer writer;
  writer.add({"SET", "k", std::string(resp_writer::own_piece_bytes, 'x')});
  writer.clear();
  CHECK(writer.is_empty());
  CHECK(writer.pieces().empty());
  writer.add({"GET", "k"});
  writer.add({"GET", "l"});
  CHECK(writer.pieces().size() == 1);
  CHECK(joined(writer) == "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*2\r\n$3\r\nGET\r\n$1\r\nl\r\n");
}

TEST_CASE("resp writer: a server reads the written commands in order") {
  resp_writer writer;
  std::vector<std::vector<std::string>> sent;
  for (std::size_t size : {0u, 1u, 8191u, 8192u, 30000u, 40000u, 3u, 100000u}) {
    sent.push_back({"SET", std::to_string(size), std::string(size, 'v')});
    sent.push_back({"GET", std::to_string(size)});
  }
  std::string bytes;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    writer.add(sent[i]);
    if (i == 7) { // a part is sent meanwhile
      bytes += joined(writer);
      writer.clear();
    }
  }
  CHECK(writer.size() == joined(writer).size());
  bytes += joined(writer);
  writer.clear();
  CHECK(writer.is_empty());
  CHECK(writer.size() == 0);

  resp_parser parser({}, resp_side::client);
  resp_value value;
  std::string_view rest = bytes;
  for (const auto& command : sent) {
    REQUIRE(parser.take(rest, value) == resp_parser::outcome::value);
    REQUIRE(value.items.size() == command.size());
    for (std::size_t i = 0; i < command.size(); ++i)
      CHECK(value.items[i].text == command[i]);
  }
  CHECK(parser.take(rest, value) == resp_parser::outcome::more);
  CHECK(parser.is_between_values());
}

} // namespace resp_writer_test
