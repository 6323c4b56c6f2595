#include "runtime/server/http/http_reply.hpp"

#include "runtime/server/http/message/byte_range.hpp"

#include <algorithm>
#include <utility>

namespace hearth::server {
namespace {

std::string_view reason_of(unsigned status) {
  switch (status) {
  case 200: return "OK";
  case 201: return "Created";
  case 202: return "Accepted";
  case 204: return "No Content";
  case 206: return "Partial Content";
  case 207: return "Multi-Status";
  case 400: return "Bad Request";
  case 401: return "Unauthorized";
  case 403: return "Forbidden";
  case 404: return "Not Found";
  case 405: return "Method Not Allowed";
  case 409: return "Conflict";
  case 411: return "Length Required";
  case 413: return "Content Too Large";
  case 414: return "URI Too Long";
  case 415: return "Unsupported Media Type";
  case 416: return "Range Not Satisfiable";
  case 417: return "Expectation Failed";
  case 431: return "Request Header Fields Too Large";
  case 503: return "Service Unavailable";
  case 507: return "Insufficient Storage";
  default: return "Internal Server Error";
  }
}

unsigned status_of(errc code) {
  switch (code) {
  case errc::invalid_argument:
  case errc::invalid_key:
  case errc::invalid_value:
  case errc::malformed: return 400;
  case errc::permission: return 403;
  case errc::corrupt: return 404; // the entry is dropped: a miss
  case errc::too_large: return 413;
  case errc::no_space: return 507;
  case errc::busy:
  case errc::overloaded:
  case errc::timeout:
  case errc::cancelled:
  case errc::closed:
  case errc::read_only:
  case errc::remote: return 503;
  default: return 500;
  }
}

request_outcome outcome_of(unsigned status) {
  if (status == 404) return request_outcome::miss;
  return status >= 500 && status != 503 ? request_outcome::failed : request_outcome::refused;
}

// The text as a string of JSON, without the bytes that need an escape.
std::string json_text(std::string_view text) {
  std::string quoted(1, '"');
  for (const char c : text)
    quoted += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? '\'' : c;
  return quoted += '"';
}

// As Turbo's client reads it.
std::string turbo_error(unsigned status, std::string_view text) {
  std::string code(reason_of(status));
  std::replace(code.begin(), code.end(), ' ', '_');
  std::transform(code.begin(), code.end(), code.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return "{\"error\":{\"code\":" + json_text(code) + ",\"message\":" + json_text(text) + "}}\n";
}

} // namespace

void http_reply::add_field(std::string_view name, std::string_view field_value) {
  (((fields += name) += ": ") += field_value) += "\r\n";
}

void append_reply(output_queue& output, const http_reply& reply, reply_form form) {
  std::string head("HTTP/1.1 ");
  ((head += std::to_string(reply.status)) += ' ') += reason_of(reply.status);
  head += "\r\n";
  if (!reply.content_type.empty()) ((head += "Content-Type: ") += reply.content_type) += "\r\n";
  head += reply.fields;
  if (reply.status != 204)
    ((head += "Content-Length: ") += std::to_string(reply.body_bytes())) += "\r\n";
  head += form.keeps_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (form.has_body && !reply.value) head += reply.text;
  output.append(head);
  if (form.has_body && reply.value) output.append_payload(reply.value, reply.offset, reply.count);
}

http_reply refusal(const http_route& route, unsigned status, std::string_view text) {
  http_reply reply;
  reply.status = status;
  reply.outcome = outcome_of(status);
  reply.content_type = route.is_turbo() ? "application/json" : "text/plain; charset=utf-8";
  reply.text = route.is_turbo() ? turbo_error(status, text) : std::string(text) + "\n";
  if (status == 503) reply.add_field("Retry-After", "1");
  return reply;
}

http_reply refusal(const http_route& route, const error& why) {
  return refusal(route, status_of(why.code()), why.text());
}

http_reply unauthorized(const http_route& route, std::string_view text) {
  auto reply = refusal(route, 401, text);
  reply.add_field("WWW-Authenticate", "Basic realm=\"hearth\", charset=\"UTF-8\"");
  reply.add_field("WWW-Authenticate", "Bearer realm=\"hearth\"");
  return reply;
}

http_reply value_reply(artifact value, std::string_view range_header) {
  const auto size = value.payload().size();
  const auto range = range_of(range_header, size);
  http_reply reply;
  reply.outcome = request_outcome::hit;
  reply.content_type = "application/octet-stream";
  reply.add_field("Accept-Ranges", "bytes");
  if (range.form == range_form::unsatisfiable) {
    reply.status = 416;
    reply.content_type = {};
    reply.add_field("Content-Range", "bytes */" + std::to_string(size));
    return reply;
  }
  reply.value = std::move(value);
  reply.count = size;
  if (range.form == range_form::whole) return reply;
  reply.status = 206;
  reply.offset = range.offset;
  reply.count = range.count;
  reply.add_field("Content-Range", "bytes " + std::to_string(range.offset) + "-" +
                                       std::to_string(range.offset + range.count - 1) + "/" +
                                       std::to_string(size));
  return reply;
}

} // namespace hearth::server
