#include "runtime/server/http/message/webdav.hpp"

#include "messages/hex.hpp"

namespace hearth::server {
namespace {

// A path as text of XML: bytes that XML or a URL does not allow are escaped.
std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && std::string_view("&<>\"'").find(c) == std::string_view::npos)
      text += c;
    else
      append_hex(text += '%', {&c, 1});
  }
  return text;
}

} // namespace

std::string properties_page(std::string_view path, std::optional<std::uint64_t> file_bytes) {
  const auto kind = file_bytes ? "<D:resourcetype/><D:getcontentlength>" +
                                     std::to_string(*file_bytes) + "</D:getcontentlength>"
                               : std::string("<D:resourcetype><D:collection/></D:resourcetype>");
  // No entry has a time of change: the earliest one is shown, which clients want to see.
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
         "<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>" +
         escaped(path) + "</D:href><D:propstat><D:prop>" + kind +
         "<D:getlastmodified>Thu, 01 Jan 1970 00:00:00 GMT</D:getlastmodified></D:prop>"
         "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>\n";
}

} // namespace hearth::server
