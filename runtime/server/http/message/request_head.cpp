#include "runtime/server/http/message/request_head.hpp"

#include "runtime/server/access/ascii_case.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

namespace hearth::server {
namespace {

namespace http = boost::beast::http;
using parser = http::request_parser<http::empty_body>;

constexpr std::string_view line_end = "\r\n";

std::string_view as_view(boost::beast::string_view text) { return {text.data(), text.size()}; }

bool is_token(std::string_view name) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return (lower_case(c) >= 'a' && lower_case(c) <= 'z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t";
  const auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// Checks the lines of a head one by one, before they are parsed.
class line_checker {
public:
  expected<void> check(std::string_view line) {
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos)
      return fail(errc::malformed, "a line of the head has a bare CR, LF or NUL");
    if (line.starts_with(' ') || line.starts_with('\t'))
      return fail(errc::malformed, "a header is folded over two lines: send it in one");
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return fail(errc::malformed, "a header has no name, or a space before its colon");
    return check(line.substr(0, colon), trimmed(line.substr(colon + 1)));
  }

  expected<void> finish(bool is_http_11) const {
    if (count_of("content-length") + count_of("transfer-encoding") > 1)
      return fail(errc::malformed, "both Content-Length and Transfer-Encoding: send one of them");
    if (!is_http_11 && count_of("transfer-encoding") > 0)
      return fail(errc::malformed, "Transfer-Encoding in HTTP/1.0, which has none");
    if (is_http_11 && count_of("host") == 0)
      return fail(errc::malformed, "HTTP/1.1 without a Host header");
    return {};
  }

private:
  // Headers of which a request has one at most.
  static constexpr std::array<std::string_view, 7> single_headers{
      "content-length", "transfer-encoding", "host", "authorization",
      "expect",         "content-encoding",  "range"};

  std::size_t count_of(std::string_view name) const {
    const auto at = std::find(single_headers.begin(), single_headers.end(), name);
    return counts_[static_cast<std::size_t>(at - single_headers.begin())];
  }

  expected<void> check(std::string_view name, std::string_view value) {
    for (std::size_t i = 0; i < single_headers.size(); ++i)
      if (equal_ignoring_case(name, single_headers[i]) && ++counts_[i] > 1)
        return fail(errc::malformed, "two headers " + std::string(single_headers[i]));
    if (equal_ignoring_case(name, "content-length") && !is_number(value))
      return fail(errc::malformed, "Content-Length is not a number");
    if (equal_ignoring_case(name, "transfer-encoding") && !equal_ignoring_case(value, "chunked"))
      return fail(errc::malformed, "an unknown transfer coding: only `chunked` is known");
    return {};
  }

  std::array<std::size_t, single_headers.size()> counts_{};
};

// Checks the lines after the request line. Precondition: the head ends with an empty line.
expected<void> check_lines(std::string_view head, bool is_http_11) {
  line_checker checker;
  auto rest = head.substr(head.find(line_end) + line_end.size());
  while (rest != line_end) {
    const auto line = rest.substr(0, rest.find(line_end));
    if (auto good = checker.check(line); !good) return good;
    rest.remove_prefix(line.size() + line_end.size());
  }
  return checker.finish(is_http_11);
}

expectation expectation_of(std::string_view value) {
  if (value.empty()) return expectation::none;
  return equal_ignoring_case(value, "100-continue") ? expectation::to_continue
                                                    : expectation::unknown;
}

void take_headers(const parser::value_type& message, request_head& head) {
  const auto value_of = [&](auto name) { return std::string(as_view(message[name])); };
  head.authorization = value_of(http::field::authorization);
  head.content_encoding = value_of(http::field::content_encoding);
  head.range = value_of(http::field::range);
  head.depth = value_of(http::field::depth);
  head.artifact_tag = value_of("x-artifact-tag");
  head.artifact_duration = value_of("x-artifact-duration");
  head.has_if_range = message.count(http::field::if_range) > 0;
  head.has_content_range = message.count(http::field::content_range) > 0;
}

request_head taken_from(const parser& parsed) {
  const auto& message = parsed.get();
  request_head head;
  head.method = as_view(message.method_string());
  head.target = as_view(message.target());
  head.is_http_11 = message.version() == 11;
  head.keeps_alive = parsed.keep_alive();
  head.is_chunked = parsed.chunked();
  if (const auto length = parsed.content_length()) head.content_length = *length;
  if (head.is_http_11) head.expects = expectation_of(as_view(message[http::field::expect]));
  take_headers(message, head);
  return head;
}

} // namespace

expected<std::optional<std::size_t>> head_scanner::find_end(std::string_view bytes) {
  for (;;) {
    const auto at = bytes.find('\n', scanned_);
    if (at == std::string_view::npos) {
      scanned_ = bytes.size();
      return std::nullopt;
    }
    if (at == 0 || bytes[at - 1] != '\r')
      return fail(errc::malformed, "a line of the head ends with a bare LF: end it with CRLF");
    scanned_ = at + 1;
    if (has_line_ && bytes.substr(0, at + 1).ends_with("\r\n\r\n")) return at + 1;
    has_line_ = true;
  }
}

expected<request_head> parse_head(std::string_view head) {
  parser parsed;
  parsed.header_limit(static_cast<std::uint32_t>(head.size() + 1));
  parsed.body_limit(UINT64_MAX); // the session's to refuse, with a reply
  boost::beast::error_code problem;
  parsed.put(boost::asio::buffer(head.data(), head.size()), problem);
  if (problem || !parsed.is_header_done())
    return fail(errc::malformed, "not a request of HTTP/1.1: " + problem.message());
  if (auto good = check_lines(head, parsed.get().version() == 11); !good) return fail(good.error());
  auto taken = taken_from(parsed);
  if (!taken.target.starts_with('/') && !(taken.target == "*" && taken.method == "OPTIONS"))
    return fail(errc::malformed, "the target of a request begins with `/`");
  return taken;
}

} // namespace hearth::server
