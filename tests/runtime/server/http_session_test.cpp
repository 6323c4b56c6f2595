// Requests of real clients, broken and hostile ones, against a session without a socket.
#include "runtime/server/http/http_session.hpp"

#include "messages/digest.hpp"
#include "runtime/server/http/message/action_result.hpp"
#include "runtime/server/http/message/authorization.hpp"
#include "runtime/server/http/message/byte_range.hpp"
#include "tests/runtime/server/stepped_host.hpp"

#include <doctest/doctest.h>

#include <future>
#include <zstd.h>

namespace http_session_test {

using namespace hearth;
using namespace hearth::server;
using namespace hearth::test;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

const std::string host_line = "Host: cache\r\n";

std::string request(const std::string& line, const std::string& headers = "",
                    const std::string& body = "") {
  const bool has_length = line.starts_with("PUT") || line.starts_with("POST") || !body.empty();
  const auto length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const bool is_framed = headers.find("Transfer-Encoding") != std::string::npos;
  return line + " HTTP/1.1\r\n" + host_line + (has_length && !is_framed ? length : "") + headers +
         "\r\n" + body;
}

std::string get(const std::string& path, const std::string& headers = "") {
  return request("GET " + path, headers);
}
std::string put(const std::string& path, const std::string& body, const std::string& headers = "") {
  return request("PUT " + path, headers, body);
}

const std::string as_writer = "Authorization: Basic d3JpdGVyOnc=\r\n"; // writer:w
const std::string as_reader = "Authorization: Basic cmVhZGVyOnI=\r\n"; // reader:r
const std::string as_admin = "Authorization: Basic YWRtaW46YQ==\r\n";  // admin:a

// A reply taken apart.
struct reply {
  unsigned status = 0;
  std::string head, body;

  std::string field(const std::string& name) const {
    const auto at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const auto begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  bool closes() const { return field("Connection") == "close"; }
};

// Takes the first reply off the text.
reply take_reply(std::string& text, bool has_body = true) {
  reply one;
  const auto end = text.find("\r\n\r\n");
  REQUIRE(end != std::string::npos);
  one.head = text.substr(0, end + 2);
  REQUIRE(one.head.starts_with("HTTP/1.1 "));
  one.status = static_cast<unsigned>(std::stoul(one.head.substr(9, 3)));
  text.erase(0, end + 4);
  const auto length = one.field("Content-Length");
  if (length.empty() || !has_body) return one;
  REQUIRE(text.size() >= std::stoul(length));
  one.body = text.substr(0, std::stoul(length));
  text.erase(0, one.body.size());
  return one;
}

struct http_client {
  http_client(server_bench& in, const identity_ptr& anonymous, const listener_settings& listener)
      : host(std::make_shared<stepped_host>(anonymous))
      , session(std::make_unique<http_session>(*host, in.context, listener)) {}

  // Sends bytes as the session reads them, and waits until all are used or it closed.
  void send(std::string_view bytes, std::size_t step = 1u << 20) {
    while (!bytes.empty() && !host->is_closed) {
      bytes.remove_prefix(feed(*session, bytes, step));
      if (!settle()) return;
    }
  }
  // Waits for the answer of the request in flight.
  bool settle() {
    return host->run_until([this] { return session->is_ready() || host->is_closed || is_full(); });
  }
  bool is_full() { return host->output().size() > 1000 && session->is_idle(); }

  reply ask(std::string_view bytes, std::size_t step = 1u << 20) {
    send(bytes, step);
    text += host->take_output();
    session->sent();
    return take_reply(text, !bytes.starts_with("HEAD"));
  }
  unsigned status(std::string_view bytes) { return ask(bytes).status; }
  // The value at a path, or its status.
  std::string value(const std::string& path, const std::string& headers = "") {
    const auto one = ask(get(path, headers));
    return one.status == 200 ? one.body : std::to_string(one.status);
  }

  std::shared_ptr<stepped_host> host;
  std::unique_ptr<http_session> session;
  std::string text; // replies not yet taken
};

struct fixture : server_bench {
  fixture() {
    settings.hold.wait = 60s;
    settings.limits.value_bytes = 1u << 20;
  }
  http_client connect(const identity_ptr& anonymous = make_identity(role::writer)) {
    return {*this, anonymous, listener};
  }
  void need_credentials() {
    settings.users_file = "users.toml";
    client = connect(nullptr);
  }

  listener_settings listener;
  http_client client = connect();
};

std::string digest_of(std::string_view bytes) { return sha256(bytes).hex(); }

std::string compressed(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 3));
  return packed;
}

// A frame whose decoder needs a window of 32 MiB.
std::string wide_frame(std::string_view bytes) {
  auto* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 25);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  // In two steps, so that the frame does not say its size and with it a smaller window.
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

std::string random_bytes(std::size_t count) {
  std::string bytes;
  for (std::uint32_t state = 1; bytes.size() < count; state = state * 1664525 + 1013904223)
    bytes += static_cast<char>(state >> 24);
  return bytes;
}

// The bytes of a delimited field of protobuf.
std::string field(unsigned number, const std::string& bytes) {
  std::string made(1, static_cast<char>(number << 3 | 2));
  auto size = bytes.size();
  for (; size > 127; size >>= 7)
    made += static_cast<char>((size & 127) | 128);
  return made + static_cast<char>(size) + bytes;
}
std::string digest_message(const std::string& hex) { return field(1, hex) + "\x10\x05"; }

} // namespace

TEST_SUITE("http session") {

  // --- bytes and order

  TEST_CASE_FIXTURE(fixture, "a value is put and got, in any pieces") {
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}, std::size_t{7}}) {
      const auto path = "/ab/" + std::to_string(step);
      CHECK(client.ask(put(path, "value"), step).status == 201);
      const auto got = client.ask(get(path), step);
      CHECK(got.status == 200);
      CHECK(got.body == "value");
      CHECK_FALSE(got.closes());
    }
    CHECK(counters.protocol_errors == 0);
    CHECK(client.session->is_idle());
  }

  TEST_CASE_FIXTURE(fixture, "pipelined requests are answered in order") {
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
      const auto n = std::to_string(step);
      client.send(put("/a" + n, "1") + get("/a" + n) + get("/missing") + put("/b" + n, "22") +
                      "\r\n" + get("/b" + n) + request("HEAD /b" + n) + get("/a" + n),
                  step);
      client.text = client.host->take_output();
      CHECK(take_reply(client.text).status == 201);
      CHECK(take_reply(client.text).body == "1");
      CHECK(take_reply(client.text).status == 404);
      CHECK(take_reply(client.text).status == 201);
      CHECK(take_reply(client.text).body == "22");
      CHECK(take_reply(client.text, false).field("Content-Length") == "2");
      CHECK(take_reply(client.text).body == "1");
      CHECK(client.text.empty());
    }
  }

  TEST_CASE_FIXTURE(fixture, "a large value goes through in place and by reference") {
    const auto large = random_bytes(700'000);
    CHECK(client.status(put("/large", large)) == 201);
    CHECK(client.value("/large") == large);
    CHECK(counters.receiving_bytes == 0);
  }

  TEST_CASE_FIXTURE(fixture, "a connection reads no more while its output waits") {
    settings.limits.output_bytes = 2000;
    CHECK(client.status(put("/v", std::string(1500, 'v'))) == 201);
    const auto three = get("/v") + get("/v") + get("/v");
    CHECK(feed(*client.session, three) == three.size());
    CHECK_FALSE(client.session->is_ready());
    auto sent = client.host->take_output();
    CHECK(sent.size() < 4500);
    client.session->sent();
    sent += client.host->take_output();
    CHECK(sent.size() > 4500);
    CHECK(client.session->is_ready());
  }

  TEST_CASE_FIXTURE(fixture, "chunks are put together") {
    const std::string chunks = "4\r\nwiki\r\nA;name=\"x\"\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
      const auto path = "/chunks" + std::to_string(step);
      CHECK(client.ask(request("PUT " + path, "Transfer-Encoding: Chunked\r\n", chunks), step)
                .status == 201);
      CHECK(client.value(path) == "wiki0123456789");
    }
    CHECK(
        client.ask(request("PUT /none", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), 1).status ==
        201);
    CHECK(client.value("/none") == "");
  }

  TEST_CASE_FIXTURE(fixture, "broken chunks end the connection") {
    for (const std::string chunks :
         {"4\nwiki\r\n0\r\n\r\n", "4\r\nwikix\r\n", "x\r\n", "\r\n", "-1\r\n", "4 \r\nwiki\r\n",
          "0x4\r\nwiki\r\n", "4\r\nwiki\n0\r\n\r\n", "0\r\n\n", "0\r\nA: b\n\r\n",
          "1;a\nb\r\nx\r\n", "10000000000000000\r\n", "0000000000000000\r\n\r\n"}) {
      CAPTURE(chunks);
      client = connect();
      const auto one = client.ask(request("PUT /a", "Transfer-Encoding: chunked\r\n", chunks));
      CHECK(one.status == 400);
      CHECK(one.closes());
      CHECK(client.host->is_closed);
      CHECK(client.session->is_idle() == false);
    }
    for (const auto& line : {"1;" + std::string(9000, 'x'), "0\r\n" + std::string(9000, 'x')}) {
      client = connect();
      CHECK(client.status(request("PUT /a", "Transfer-Encoding: chunked\r\n", line)) == 400);
    }
  }

  // --- heads

  TEST_CASE_FIXTURE(fixture, "what could be read in two ways is refused and ends the connection") {
    const std::string line = "PUT /a HTTP/1.1\r\n", begin = line + host_line;
    const std::vector<std::string> heads{
        begin + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        begin + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
        begin + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        begin + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        begin + "Content-Length: 1, 1\r\n\r\nx",
        begin + "Content-Length: +1\r\n\r\nx",
        begin + "Content-Length: 1 1\r\n\r\nx",
        begin + "Content-Length:\r\n\r\nx",
        begin + "Content-Length: 99999999999999999999999\r\n\r\nx",
        begin + "X: a\r\n folded\r\nContent-Length: 1\r\n\r\nx",
        begin + "X: a\r\n\tfolded\r\nContent-Length: 1\r\n\r\nx",
        line + " Host: a\r\nContent-Length: 1\r\n\r\nx",
        begin + "Content-Length: 1\n\r\n\r\nx",
        begin + "Content-Length: 1\r\n\nx",
        begin + "X: a\rb\r\nContent-Length: 1\r\n\r\nx",
        begin + "X: a\0b\r\nContent-Length: 1\r\n\r\nx"s,
        begin + "Content-Length : 1\r\n\r\nx",
        begin + "Content Length: 1\r\n\r\nx",
        begin + ": 1\r\n\r\n",
        begin + "Content-Length\r\n\r\n",
        begin + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        begin + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        begin + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        begin + "Transfer-Encoding: identity\r\n\r\n",
        begin + "Transfer-Encoding: xchunked\r\n\r\n",
        begin + "Transfer-Encoding:\x0b"
                "chunked\r\n\r\n",
        "PUT /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        line + "Content-Length: 1\r\n\r\nx", // no Host
        begin + host_line + "Content-Length: 1\r\n\r\nx",
        begin + as_reader + as_writer + "Content-Length: 1\r\n\r\nx",
        "PUT /a HTTP/2.0\r\n" + host_line + "\r\n",
        "PUT /a\r\n" + host_line + "\r\n",
        "PUT  /a HTTP/1.1\r\n" + host_line + "\r\n",
        "PUT http://cache/a HTTP/1.1\r\n" + host_line + "Content-Length: 1\r\n\r\nx",
        "PUT a HTTP/1.1\r\n" + host_line + "Content-Length: 1\r\n\r\nx",
        "GET /a\n\n",
        "\x16\x03\x01 TLS\r\n\r\n",
    };
    for (const auto& head : heads)
      for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
        CAPTURE(head);
        client = connect();
        const auto one = client.ask(head + get("/smuggled"), step);
        CHECK(one.status == 400);
        CHECK(one.closes());
        CHECK(client.host->is_closed);
        CHECK(client.text.empty()); // the second request was not seen
      }
    CHECK(trusted().get(route_of("/a").key).get()->hit() == false);
    CHECK(counters.protocol_errors == 2 * heads.size());
  }

  TEST_CASE_FIXTURE(fixture, "a bare LF is refused as it comes, not when a head has ended") {
    CHECK(client.status("GET / HTTP/1.1\n") == 400);
    CHECK(client.host->is_closed);
  }

  TEST_CASE_FIXTURE(fixture, "long heads are refused") {
    settings.limits.header_bytes = 1000;
    CHECK(client.status(get("/" + std::string(1000, 'x'))) == 414);
    CHECK(client.host->is_closed);
    client = connect();
    CHECK(client.status(get("/x", "X: " + std::string(1000, 'x') + "\r\n")) == 431);
    CHECK(client.host->is_closed);
    client = connect();
    client.send("GET /" + std::string(2000, 'x'), 100); // its end never comes
    CHECK(client.host->take_output().starts_with("HTTP/1.1 414 "));
    client = connect();
    CHECK(client.status(get("/" + std::string(800, 'x'))) == 404);
  }

  TEST_CASE_FIXTURE(fixture, "a path that is longer than a key may be is refused") {
    settings.limits.header_bytes = 100'000;
    CHECK(client.status(get("/" + std::string(70'000, 'x'))) == 414);
    CHECK_FALSE(client.host->is_closed);
    CHECK(client.status(put("/" + std::string(64'900, 'x'), "v")) == 201);
  }

  TEST_CASE_FIXTURE(fixture, "a connection lives as long as both sides want") {
    CHECK(client.ask("GET /x HTTP/1.0\r\n\r\n").closes());
    CHECK(client.host->is_closed);
    client = connect();
    CHECK_FALSE(client.ask("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").closes());
    CHECK_FALSE(client.host->is_closed);
    CHECK(client.ask(get("/x", "Connection: close\r\n")).closes());
    CHECK(client.host->is_closed);
  }

  TEST_CASE_FIXTURE(fixture, "a client that asks may send its body") {
    const std::string expect = "Expect: 100-continue\r\n";
    const auto whole = put("/a", "value", expect);
    const auto head = whole.substr(0, whole.size() - 5);
    SUBCASE("and it is told so before") {
      client.send(head);
      CHECK(client.host->take_output() == "HTTP/1.1 100 Continue\r\n\r\n");
      CHECK(client.ask("value").status == 201);
      CHECK(client.value("/a") == "value");
    }
    SUBCASE("or is refused at once") {
      client = connect(make_identity(role::reader));
      const auto one = client.ask(head);
      CHECK(one.status == 403);
      CHECK(one.closes());
      CHECK(client.host->is_closed);
    }
    SUBCASE("or is refused because the value is too large") {
      settings.limits.value_bytes = 4;
      CHECK(client.ask(head).status == 413);
    }
    SUBCASE("but expects nothing else") {
      const auto one = client.ask(put("/a", "value", "Expect: a miracle\r\n"));
      CHECK(one.status == 417);
      CHECK(one.closes());
    }
  }

  TEST_CASE_FIXTURE(fixture, "lengths have to be known and within the limits") {
    CHECK(client.status("PUT /a HTTP/1.1\r\n" + host_line + "\r\n") == 411);
    CHECK_FALSE(client.host->is_closed);
    settings.limits.value_bytes = 10;
    CHECK(client.status(put("/a", "0123456789")) == 201);
    const auto one = client.ask(put("/a", "0123456789a"));
    CHECK(one.status == 413);
    CHECK(one.closes());
    CHECK(client.host->is_closed);
    client = connect();
    CHECK(client.status(request("PUT /a", "Transfer-Encoding: chunked\r\n",
                                "6\r\n012345\r\n5\r\n67890\r\n0\r\n\r\n")) == 413);
    CHECK(client.host->is_closed);
  }

  TEST_CASE_FIXTURE(fixture, "the values that all connections receive are bounded together") {
    settings.limits.receiving_bytes = 300'000;
    auto other = connect();
    const std::string half(200'000, 'h');
    const auto first = put("/first", half), second = put("/second", half);
    client.send(std::string_view(first).substr(0, first.size() - 1));
    CHECK(counters.receiving_bytes >= half.size() - 1);
    SUBCASE("of known length") { CHECK(other.status(second) == 503); }
    SUBCASE("chunked") {
      CHECK(other.status(request("PUT /second", "Transfer-Encoding: chunked\r\n",
                                 "30d40\r\n" + half + "\r\n0\r\n\r\n")) == 503);
    }
    SUBCASE("compressed") {
      CHECK(other.status(put("/second", compressed(half), "Content-Encoding: zstd\r\n")) == 503);
    }
    CHECK_FALSE(other.host->is_closed); // the rest was read
    CHECK(other.value("/second") == "404");
    CHECK(client.ask(first.substr(first.size() - 1)).status == 201);
    CHECK(counters.receiving_bytes == 0);
    CHECK(other.status(second) == 201);
    CHECK(client.value("/first") == half);
    client.send(std::string_view(first).substr(0, first.size() - 1));
    client.session.reset();
    CHECK(counters.receiving_bytes == 0);
  }

  // --- entries

  TEST_CASE_FIXTURE(fixture, "an entry is replaced and dropped") {
    CHECK(client.status(request("DELETE /a")) == 404);
    CHECK(client.status(put("/a", "1")) == 201);
    CHECK(client.status(put("/a", "2")) == 201);
    CHECK(client.value("/a") == "2");
    CHECK(client.status(request("DELETE /a")) == 204);
    CHECK(client.value("/a") == "404");
  }

  TEST_CASE_FIXTURE(fixture, "HEAD tells the length alone") {
    client.status(put("/a", "12345"));
    const auto one = client.ask(request("HEAD /a", "Range: bytes=0-1\r\n"));
    CHECK(one.status == 200);
    CHECK(one.field("Content-Length") == "5");
    CHECK(client.text.empty());
    CHECK(client.ask(request("HEAD /b")).status == 404);
    CHECK(client.text.empty());
  }

  TEST_CASE_FIXTURE(fixture, "a part of a value is sent") {
    client.status(put("/a", "0123456789"));
    const auto part = [&](const std::string& range) {
      const auto one = client.ask(get("/a", "Range: " + range + "\r\n"));
      return std::to_string(one.status) + " " + one.body + " " + one.field("Content-Range");
    };
    CHECK(part("bytes=2-4") == "206 234 bytes 2-4/10");
    CHECK(part("bytes=8-") == "206 89 bytes 8-9/10");
    CHECK(part("bytes=8-99") == "206 89 bytes 8-9/10");
    CHECK(part("bytes=-3") == "206 789 bytes 7-9/10");
    CHECK(part("bytes=-99") == "206 0123456789 bytes 0-9/10");
    CHECK(part("bytes=10-") == "416  bytes */10");
    CHECK(part("bytes=-0") == "416  bytes */10");
    CHECK(part("bytes=5-4") == "200 0123456789 ");
    CHECK(part("bytes=0-1,3-4") == "200 0123456789 ");
    CHECK(part("lines=0-1") == "200 0123456789 ");
    CHECK(part("bytes=x-1") == "200 0123456789 ");
    CHECK(part("bytes=99999999999999999999-") == "200 0123456789 ");
    CHECK(part("bytes=0-1\r\nIf-Range: \"x\"") == "200 0123456789 ");
    CHECK(range_of("bytes=-1", 0).form == range_form::unsatisfiable);
  }

  TEST_CASE_FIXTURE(fixture, "a method that a path lacks is refused") {
    const auto one = client.ask(request("POST /a", "", "body"));
    CHECK(one.status == 405);
    CHECK(one.field("Allow").find("PUT") != std::string::npos);
    CHECK_FALSE(client.host->is_closed);
    CHECK(client.status(request("BREW /a")) == 405);
    CHECK(client.status(put("/metrics", "x")) == 405);
    CHECK(client.status(put("/", "x")) == 405);
  }

  TEST_CASE_FIXTURE(fixture, "paths are keys as they stand") {
    CHECK(client.status(put("/a/../b", "1")) == 201);
    CHECK(client.value("/b") == "404");
    CHECK(client.status(put("/%62", "2")) == 201);
    CHECK(client.value("/b") == "404");
    CHECK(client.value("//a/../b") == "404");
    CHECK(client.value("/a/../b") == "1");
  }

  TEST_CASE_FIXTURE(fixture, "a part of an entry cannot be put") {
    CHECK(client.status(put("/a", "x", "Content-Range: bytes 0-0/2\r\n")) == 400);
    CHECK(client.value("/a") == "404");
  }

  // --- Bazel

  TEST_CASE_FIXTURE(fixture, "a blob is verified") {
    const std::string content = "the content";
    const auto path = "/cas/" + digest_of(content);
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
      const auto one = client.ask(put("/p" + path, "other content"), step);
      CHECK(one.status == 400);
      CHECK(one.body.find("SHA-256") != std::string::npos);
      CHECK(client.value(path) == "404");
    }
    CHECK(client.ask(put("/p" + path, content), 1).status == 201);
    CHECK(client.value("/q" + path) == content); // all prefixes share it
    CHECK(client.status(put(path, content)) == 201);
    const auto large = random_bytes(300'000); // in place
    CHECK(client.status(put("/cas/" + digest_of(large), large)) == 201);
  }

  TEST_CASE_FIXTURE(fixture, "other bytes under the key of a blob are replaced by the right ones") {
    const auto path = "/cas/" + digest_of("abc");
    CHECK(trusted().put(blob_key(digest_of("abc")), artifact::make("evil")).get());
    CHECK(client.value(path) == "evil");
    for (int i = 0; i < 2; ++i) {
      CHECK(client.status(put(path, "abc")) == 201);
      CHECK(client.value(path) == "abc");
    }
  }

  TEST_CASE_FIXTURE(fixture, "the empty blob always exists") {
    const auto path = "/p/cas/" + digest_of("");
    CHECK(client.ask(get(path)).status == 200);
    CHECK(client.ask(request("HEAD " + path)).status == 200);
    CHECK(client.status(put(path, "")) == 201);
    CHECK(client.status(put(path, "x")) == 400);
    CHECK_FALSE(trusted().get(blob_key(digest_of(""))).get()->hit());
  }

  TEST_CASE_FIXTURE(fixture, "a compressed blob is stored as it is without") {
    const auto content = random_bytes(100'000) + std::string(400'000, 'z');
    const auto path = "/cas/" + digest_of(content);
    const std::string zstd = "Content-Encoding: zstd\r\n";
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1000}}) {
      CHECK(client.ask(put(path, compressed(content), zstd), step).status == 201);
      CHECK(client.value(path, "Accept-Encoding: zstd\r\n") == content);
      client.status(request("DELETE " + path));
    }
    CHECK(client.status(put("/two", compressed("one") + compressed("two"), zstd)) == 201);
    CHECK(client.value("/two") == "onetwo");
    CHECK(client.status(put("/none", compressed(""), zstd)) == 201);
    CHECK(client.value("/none") == "");
  }

  TEST_CASE_FIXTURE(fixture, "a compressed body that is broken or too large is refused") {
    const std::string zstd = "Content-Encoding: zstd\r\n";
    const auto packed = compressed(random_bytes(1000));
    CHECK(client.status(put("/a", "not zstd", zstd)) == 400);
    CHECK(client.status(put("/a", packed.substr(0, 500), zstd)) == 400);
    CHECK(client.status(put("/a", packed + "x", zstd)) == 400);
    CHECK(client.status(put("/a", "", zstd)) == 400);
    CHECK(client.status(put("/a", wide_frame("x"), zstd)) == 400);
    CHECK(client.status(put("/a", compressed(std::string(2u << 20, 'z')), zstd)) == 413);
    CHECK(client.status(put("/a", "x", "Content-Encoding: gzip\r\n")) == 415);
    CHECK_FALSE(client.host->is_closed);
    CHECK(client.value("/a") == "404");
  }

  TEST_CASE_FIXTURE(fixture, "a result is any bytes, for its prefix alone") {
    const auto name = "/ac/" + std::string(64, 'a');
    CHECK(client.status(put("/p" + name, "not protobuf")) == 201);
    CHECK(client.value("/p" + name) == "not protobuf");
    CHECK(client.value("/q" + name) == "404");
  }

  TEST_CASE_FIXTURE(fixture, "a listener that validates results answers those that are whole") {
    listener.validate_results = true;
    client = connect();
    const auto path = "/ac/" + std::string(64, 'a');
    CHECK(client.status(put(path, "not protobuf")) == 400);
    CHECK(client.value(path) == "404");
    const std::string file = "file", out = "out";
    const auto result = field(2, field(1, "a.o") + field(2, digest_message(digest_of(file)))) +
                        "\x20\x01" + field(6, digest_message(digest_of(out))) +
                        field(8, digest_message(digest_of("")));
    CHECK(client.status(put(path, result)) == 201);
    CHECK(client.value(path) == "404");
    CHECK(client.status(put("/cas/" + digest_of(file), file)) == 201);
    CHECK(client.value(path) == "404");
    CHECK(client.status(put("/p/cas/" + digest_of(out), out)) == 201);
    CHECK(client.value(path) == result);
    CHECK(client.ask(request("HEAD " + path)).status == 200);
  }

  TEST_CASE_FIXTURE(fixture, "a result with a folder is whole when the files of its tree are") {
    listener.validate_results = true;
    client = connect();
    const auto path = "/ac/" + std::string(64, 'b');
    const auto file_node = [](const std::string& name, const std::string& content) {
      return field(1, field(1, name) + field(2, digest_message(digest_of(content))));
    };
    const auto tree = field(1, file_node("top", "one") + field(2, field(1, "sub"))) +
                      field(2, file_node("empty", "") + file_node("below", "two"));
    const auto result = field(3, field(1, "folder") + field(3, digest_message(digest_of(tree))));
    CHECK(client.status(put(path, result)) == 201);
    for (const auto& blob : {tree, std::string("one"), std::string("two")}) {
      CHECK(client.value(path) == "404");
      CHECK(client.status(put("/cas/" + digest_of(blob), blob)) == 201);
    }
    CHECK(client.value(path) == result);
    const std::string nonsense = "no tree";
    CHECK(client.status(put("/cas/" + digest_of(nonsense), nonsense)) == 201);
    CHECK(client.status(put(path, field(3, field(3, digest_message(digest_of(nonsense)))))) == 201);
    CHECK(client.value(path) == "404");
  }

  TEST_CASE("the files of a tree are found") {
    const auto digest = std::string(64, '1');
    const auto folder = field(1, field(1, "a") + field(2, digest_message(digest))) +
                        field(2, field(1, "d") + field(2, digest_message(digest))) +
                        field(3, "link");
    const auto found = blobs_of_tree(field(1, folder) + field(2, folder) + field(2, ""));
    REQUIRE(found.has_value());
    CHECK(found->size() == 2);
    CHECK(found->front().digest == digest);
    CHECK_FALSE(found->front().is_tree);
    CHECK(blobs_of_tree("").value().empty());
    CHECK_FALSE(blobs_of_tree("\x0a\x7f"));
    CHECK_FALSE(blobs_of_tree(field(1, field(1, "\x12"))));
    CHECK(blobs_of_result(field(3, field(3, digest_message(digest)))).value().front().is_tree);
  }

  TEST_CASE("the blobs of a result are found") {
    const auto digest = std::string(64, '1');
    const auto named = digest_message(digest);
    const auto count = [](const std::string& bytes) {
      const auto found = blobs_of_result(bytes);
      return found ? static_cast<int>(found->size()) : -1;
    };
    CHECK(count("") == 0);
    CHECK(count(field(2, field(2, named))) == 1);
    CHECK(count(field(3, field(1, "d") + field(3, named) + field(5, named))) == 2);
    CHECK(count(field(6, named) + field(8, named)) == 2);
    CHECK(count(field(5, "stdout") + field(9, "\x01\x02") + "\x20\x00"s) == 0);
    CHECK(count("\x0d"
                "1234") == 0); // fixed 32
    CHECK(count("\x09"
                "12345678") == 0); // fixed 64
    CHECK(count("\x0d"
                "123") == -1);
    CHECK(count("\x12\x7f") == -1);              // a length beyond the end
    CHECK(count("\x12") == -1);                  // no length
    CHECK(count("\x10\x01") == -1);              // output_files as a number
    CHECK(count("\x30\x01") == -1);              // stdout_digest as a number
    CHECK(count("\x13") == -1);                  // a group
    CHECK(count(std::string(1, '\0')) == -1);    // field 0
    CHECK(count(std::string(11, '\xff')) == -1); // a varint that does not end
    CHECK(count(field(6, field(1, "abc"))) == -1);
    CHECK(count(field(6, field(1, std::string(64, 'A')))) == -1);
    CHECK(count(field(6, "")) == -1);
    std::string many;
    for (std::size_t i = 0; i <= max_named_blobs; ++i)
      many += field(6, named);
    CHECK(blobs_of_result(many).error().code() == errc::too_large);
  }

  // --- Turbo, Nx, WebDAV

  TEST_CASE_FIXTURE(fixture, "Turbo's headers are kept, and teams are apart") {
    const std::string path = "/v8/artifacts/0123456789abcdef";
    const auto stored = client.ask(
        put(path + "?slug=a", "tar", "x-artifact-tag: signature\r\nx-artifact-duration: 17\r\n"));
    CHECK(stored.status == 202);
    CHECK(stored.field("Content-Type") == "application/json");
    const auto got = client.ask(get(path + "?slug=a"));
    CHECK(got.body == "tar");
    CHECK(got.field("x-artifact-tag") == "signature");
    CHECK(got.field("x-artifact-duration") == "17");
    CHECK(counters.timed_hits == 1); // the client has said how long it took
    CHECK(counters.saved_ns <= 17'000'000);
    CHECK(client.ask(request("HEAD " + path + "?slug=a")).field("x-artifact-duration") == "17");
    const auto other = client.ask(get(path + "?slug=b"));
    CHECK(other.status == 404);
    CHECK(other.body.starts_with("{\"error\":{\"code\":\"not_found\""));
    CHECK(client.status(put(path, "plain")) == 202);
    CHECK(client.ask(get(path)).field("x-artifact-tag") == "");
  }

  TEST_CASE_FIXTURE(fixture, "Turbo's events are taken and its status told") {
    CHECK(client.status(request("POST /v8/artifacts/events?slug=a", "", "[{}]")) == 200);
    CHECK(client.ask(get("/v8/artifacts/status")).body == "{\"status\":\"enabled\"}\n");
  }

  TEST_CASE_FIXTURE(fixture, "Nx hears that an entry exists") {
    CHECK(client.value("/v1/cache/123") == "404");
    CHECK(client.status(put("/v1/cache/123", "1")) == 200);
    CHECK(client.status(put("/v1/cache/123", "2")) == 409);
    CHECK(client.value("/v1/cache/123") == "1");
  }

  TEST_CASE_FIXTURE(fixture, "sccache's WebDAV finds folders and entries") {
    const auto find = [&](const std::string& path, const std::string& depth = "0") {
      return client.ask(request("PROPFIND " + path, "Depth: " + depth + "\r\n", "<propfind/>"));
    };
    const auto folder = find("/p/a&b/");
    CHECK(folder.status == 207);
    CHECK(folder.body.find("<D:collection/>") != std::string::npos);
    CHECK(folder.body.find("<D:href>/p/a%26b/</D:href>") != std::string::npos);
    CHECK(find("/").status == 207);
    CHECK(find("/p/file").status == 404);
    CHECK(find("/p/", "1").status == 403);
    client.status(put("/p/file", "12345"));
    const auto file = find("/p/file");
    CHECK(file.body.find("<D:getcontentlength>5<") != std::string::npos);
    CHECK(file.body.find("<D:collection/>") == std::string::npos);
    CHECK(client.status(request("MKCOL /p/new/")) == 201);
    const auto options = client.ask(request("OPTIONS /p/"));
    CHECK(options.status == 200);
    CHECK(options.field("DAV") == "1");
    CHECK(client.status(request("OPTIONS *")) == 200);
  }

  // --- access

  TEST_CASE_FIXTURE(fixture, "credentials are needed where no anonymous client may in") {
    need_credentials();
    for (const auto& bytes : {get("/a"), put("/a", "x"), get("/metrics"), get("/status.json")}) {
      const auto one = client.ask(bytes);
      CHECK(one.status == 401);
      CHECK(one.field("WWW-Authenticate").starts_with("Basic "));
      CHECK(one.head.find("WWW-Authenticate: Bearer") != std::string::npos);
      CHECK_FALSE(client.host->is_closed);
    }
    for (const auto* open : {"/", "/healthz", "/livez", "/readyz"})
      CHECK(client.ask(get(open)).status == 200);
    CHECK(client.status(put("/a", "x", as_writer)) == 201);
    CHECK(client.value("/a", as_reader) == "x");
    CHECK(client.value("/a") == "401"); // each request shows its own
    CHECK(client.value("/a", "Authorization: Bearer token-of-reader\r\n") == "x");
    CHECK(client.value("/a", "Authorization: bearer writer:w\r\n") == "x");
  }

  TEST_CASE_FIXTURE(fixture, "wrong credentials are refused") {
    need_credentials();
    for (const std::string shown : {"Basic d3JpdGVyOng=", "Basic !", "Basic d3JpdGVy", "Basic",
                                    "Bearer x", "Digest x", "Basic "}) {
      CAPTURE(shown);
      CHECK(client.value("/a", "Authorization: " + shown + "\r\n") == "401");
    }
    CHECK(counters.credentials_right == 0);
    CHECK(counters.credentials_wrong == 2);
    client.status(get("/a", as_writer));
    client.status(get("/a", as_writer));
    CHECK(counters.credentials_right == 1); // the second was known
  }

  TEST_CASE_FIXTURE(fixture, "each request of a connection has the rights that it shows") {
    settings.users_file = "users.toml";
    client = connect(make_identity(role::reader));
    for (int i = 0; i < 2; ++i) {
      CHECK(client.status(put("/a", "x", as_writer)) == 201);
      CHECK(client.status(put("/a", "x")) == 403);
      CHECK(client.status(put("/a", "x", as_writer)) == 201);
      CHECK(client.status(put("/a", "x", as_reader)) == 403);
    }
  }

  TEST_CASE_FIXTURE(fixture, "pipelined requests wait for the check of a password") {
    need_credentials();
    client.send(put("/a", "x", as_writer) + get("/a", as_reader) + get("/a") +
                get("/a", as_writer));
    client.settle();
    client.text = client.host->take_output();
    CHECK(take_reply(client.text).status == 201);
    CHECK(take_reply(client.text).body == "x");
    CHECK(take_reply(client.text).status == 401);
    CHECK(take_reply(client.text).body == "x");
  }

  TEST_CASE_FIXTURE(fixture, "without users, credentials say nothing") {
    CHECK(client.status(put("/v1/cache/1", "x", "Authorization: Bearer any\r\n")) == 200);
    client = connect(nullptr); // a password was set while the server runs
    CHECK(client.value("/v1/cache/1", as_reader) == "x");
    CHECK(client.value("/v1/cache/1", "Authorization: Bearer any\r\n") == "401");
  }

  TEST_CASE_FIXTURE(fixture, "a reader's writes are refused, and the connection goes on") {
    client = connect(make_identity(role::reader));
    for (const std::size_t step : {std::size_t{1} << 20, std::size_t{1}}) {
      const auto one = client.ask(put("/a", "value"), step);
      CHECK(one.status == 403);
      CHECK_FALSE(one.closes());
      CHECK(client.value("/a") == "404");
    }
    CHECK(client.status(
              request("PUT /a", "Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n")) == 403);
    CHECK(client.status(request("DELETE /a")) == 403);
    CHECK(client.status(request("MKCOL /a/")) == 403);
    const auto turbo = client.ask(put("/v8/artifacts/0123456789abcdef", "x"));
    CHECK(turbo.status == 403);
    CHECK(turbo.body.starts_with("{\"error\":{\"code\":\"forbidden\""));
    CHECK(client.value("/a") == "404");
  }

  TEST_CASE_FIXTURE(fixture, "a reader's writes can be dropped silently") {
    auto who = *make_identity(role::reader);
    who.refused = refused_writes::ignore;
    client = connect(std::make_shared<const identity>(who));
    CHECK(client.status(put("/a", "value")) == 201);
    CHECK(client.status(put("/cas/" + std::string(64, 'a'), "value")) == 201);
    CHECK(client.status(put("/v1/cache/1", "value")) == 200);
    CHECK(client.status(put("/v8/artifacts/0123456789abcdef", "x")) == 202);
    CHECK(client.status(request("DELETE /a")) == 204);
    CHECK(client.status(request("MKCOL /a/")) == 201);
    CHECK(client.value("/a") == "404");
  }

  TEST_CASE_FIXTURE(fixture, "a namespace is written by its own and reads the trusted one") {
    client.status(put("/a", "trusted"));
    auto who = *make_identity(role::writer);
    who.name_space = "pr";
    auto guest = connect(std::make_shared<const identity>(who));
    CHECK(guest.value("/a") == "trusted");
    CHECK(guest.status(put("/b", "untrusted")) == 201);
    CHECK(guest.value("/b") == "untrusted");
    CHECK(client.value("/b") == "404");
  }

  TEST_CASE_FIXTURE(fixture, "pages with numbers are for admins and anonymous clients") {
    CHECK(client.ask(get("/metrics")).body == "hearth_up 1\n");
    CHECK(client.ask(get("/status.json")).body == "{\"up\":true}");
    CHECK(client.ask(request("HEAD /metrics")).field("Content-Length") == "12");
    need_credentials();
    CHECK(client.value("/metrics", as_writer) == "403");
    CHECK(client.value("/status.json", as_writer) == "403");
    CHECK(client.value("/metrics", as_admin) == "hearth_up 1\n");
    CHECK(client.ask(get("/")).body.find("<title>") != std::string::npos);
  }

  TEST_CASE_FIXTURE(fixture, "a page that is made when the connection ends is dropped") {
    std::promise<void> begun, ended;
    context.metrics_page = [&] {
      begun.set_value();
      ended.get_future().wait();
      return std::string("late");
    };
    feed(*client.session, get("/metrics"));
    begun.get_future().wait();
    client.session.reset();
    ended.set_value();
    blocking.clear();
    client.host->post([] {});
    bool is_done = false;
    client.host->post([&] { is_done = true; });
    CHECK(client.host->run_until([&] { return is_done; }));
    CHECK(client.host->output().is_empty());
  }

  // --- the store

  TEST_CASE("errors of the store have their status") {
    const http_route path = route_of("/a");
    CHECK(refusal(path, error(errc::no_space, "full")).status == 507);
    CHECK(refusal(path, error(errc::overloaded, "later")).status == 503);
    CHECK(refusal(path, error(errc::remote, "away")).status == 503);
    CHECK(refusal(path, error(errc::too_large, "large")).status == 413);
    CHECK(refusal(path, error(errc::corrupt, "lost")).status == 404);
    CHECK(refusal(path, error(errc::io, "disk")).status == 500);
    CHECK(refusal(path, error(errc::no_space, "full")).outcome == request_outcome::failed);
    CHECK(refusal(route_of("/v8/artifacts/1"), 403, "a \"b\"\n").text ==
          "{\"error\":{\"code\":\"forbidden\",\"message\":\"a 'b''\"}}\n");
  }

  TEST_CASE_FIXTURE(fixture, "a cache that cannot be opened is an answer") {
    context.entries_of = [](const identity&, unsigned) -> expected<entry_space> {
      return fail(errc::no_space, "the disk is full");
    };
    CHECK(client.status(get("/a")) == 507);
    CHECK(client.status(put("/a", "x")) == 507);
  }

  TEST_CASE_FIXTURE(fixture, "requests are counted") {
    client.status(put("/a", "12345"));
    client.value("/a");
    client.value("/b");
    client.status(request("HEAD /a"));
    const auto count = [&](request_kind kind, request_outcome outcome) {
      return counters
          .requests[static_cast<std::size_t>(protocol::http)][static_cast<std::size_t>(kind)]
                   [static_cast<std::size_t>(outcome)]
          .load();
    };
    CHECK(count(request_kind::put, request_outcome::done) == 1);
    CHECK(count(request_kind::get, request_outcome::hit) == 1);
    CHECK(count(request_kind::get, request_outcome::miss) == 1);
    CHECK(count(request_kind::exists, request_outcome::hit) == 1);
    CHECK(counters.space("").bytes_in == 5);
    CHECK(counters.space("").bytes_out == 5);
  }

  // --- draining

  TEST_CASE_FIXTURE(fixture, "draining ends an idle connection at once") {
    client.session->drain();
    CHECK(client.host->is_closed);
    CHECK_FALSE(client.session->is_ready());
  }

  TEST_CASE_FIXTURE(fixture, "draining answers what has begun, and no more") {
    const auto whole = put("/a", "value");
    client.send(std::string_view(whole).substr(0, whole.size() - 3));
    context.is_draining = true;
    client.session->drain();
    CHECK_FALSE(client.host->is_closed);
    const auto one = client.ask(whole.substr(whole.size() - 3) + get("/a"));
    CHECK(one.status == 201);
    CHECK(one.closes());
    CHECK(client.host->is_closed);
    CHECK(client.text.empty());
  }

  TEST_CASE_FIXTURE(fixture, "a server that drains is not ready but lives") {
    context.is_draining = true;
    CHECK(client.status(get("/readyz")) == 503);
    client = connect();
    CHECK(client.status(get("/livez")) == 200);
  }

  // --- holding a miss

  TEST_CASE_FIXTURE(fixture, "a second miss gets the value of the first") {
    auto first = connect(make_identity(role::writer, true));
    auto second = connect(make_identity(role::writer, true));
    CHECK(first.value("/a") == "404");
    feed(*second.session, get("/a"));
    CHECK_FALSE(second.session->is_ready());
    CHECK_FALSE(second.session->is_idle());
    CHECK(second.host->output().is_empty());
    SUBCASE("and the connection goes on by itself") {
      CHECK(first.status(put("/a", "made")) == 201);
      CHECK(second.settle());
      CHECK(second.host->resumed > 0);
      auto text = second.host->take_output();
      CHECK(take_reply(text).body == "made");
    }
    SUBCASE("or becomes the holder when the first one ends") {
      first.session.reset();
      CHECK(second.settle());
      auto text = second.host->take_output();
      CHECK(take_reply(text).status == 404);
      CHECK(counters.holders_now == 1);
    }
  }

  TEST_CASE_FIXTURE(fixture, "only a GET that can wait holds a miss") {
    const auto held = [&](const identity_ptr& who, const std::string& bytes) {
      auto one = connect(who);
      one.send(bytes);
      one.settle();
      return counters.holders_now.load();
    };
    const auto holder = make_identity(role::writer, true);
    CHECK(held(holder, get("/a")) == 1);
    CHECK(held(holder, get("/a") + get("/b")) == 1); // the last one alone
    CHECK(held(holder, request("HEAD /a")) == 0);
    CHECK(held(make_identity(role::reader, true), get("/a")) == 0);
    CHECK(held(make_identity(role::writer), get("/a")) == 0);
    CHECK(held(holder, get("/cas/" + std::string(64, '1'))) == 0);
    CHECK(held(holder, get("/v1/cache/1")) == 0);
  }

} // TEST_SUITE

} // namespace http_session_test
