#include "runtime/server/crsh/crsh_codec.hpp"

#include <cstring>

namespace hearth::server {
namespace {

constexpr unsigned char replaces_flag = 1;
constexpr std::size_t max_text_bytes = 255;

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::string message(std::string_view text) {
  const auto sent = text.substr(0, max_text_bytes);
  return std::string(1, static_cast<char>(sent.size())).append(sent);
}

bool has_key(crsh_verb verb) { return verb != crsh_verb::stop && verb != crsh_verb::info; }

// Adds flags and length of a put. Returns false when they have not come yet.
bool parse_put(std::string_view bytes, crsh_parsed& parsed) {
  auto& request = parsed.request;
  if (bytes.size() < parsed.consumed + 1 + sizeof request.value_bytes) return false;
  request.replaces = (byte_at(bytes, parsed.consumed) & replaces_flag) != 0;
  std::memcpy(&request.value_bytes, bytes.data() + parsed.consumed + 1, sizeof request.value_bytes);
  parsed.consumed += 1 + sizeof request.value_bytes;
  return true;
}

} // namespace

expected<std::optional<crsh_parsed>> parse_crsh(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  if (byte_at(bytes, 0) > static_cast<unsigned char>(crsh_verb::exists))
    return fail(errc::malformed, "not a request of crsh: no verb has the number " +
                                     std::to_string(byte_at(bytes, 0)));
  crsh_parsed parsed;
  parsed.request.verb = static_cast<crsh_verb>(byte_at(bytes, 0));
  parsed.consumed = 1;
  if (!has_key(parsed.request.verb)) return parsed;
  if (bytes.size() < 2) return std::nullopt;
  const std::size_t key_bytes = byte_at(bytes, 1);
  if (bytes.size() < 2 + key_bytes) return std::nullopt;
  parsed.request.key = bytes.substr(2, key_bytes);
  parsed.consumed = 2 + key_bytes;
  if (parsed.request.verb == crsh_verb::put && !parse_put(bytes, parsed)) return std::nullopt;
  return parsed;
}

std::string crsh_ok_with_value(std::uint64_t bytes) {
  std::string reply(crsh_ok);
  char length[sizeof bytes];
  std::memcpy(length, &bytes, sizeof bytes);
  return reply.append(length, sizeof bytes);
}

std::string crsh_error(std::string_view text) { return "\x02" + message(text); }

std::string crsh_info(std::string_view name) {
  constexpr char no_lines = 0;
  return message(name) + no_lines;
}

} // namespace hearth::server
