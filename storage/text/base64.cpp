#include "storage/text/base64.hpp"

#include <algorithm>
#include <openssl/evp.h>

namespace hearth::storage {
namespace {

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// OpenSSL counts in int: this many bytes, and their characters, are converted at a time.
constexpr std::size_t base64_chunk_bytes = 3u << 20;
constexpr std::size_t base64_chunk_characters = base64_chunk_bytes / 3 * 4;

} // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text, part;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(base64_chunk_bytes, bytes.size()))) {
    const auto chunk = bytes.substr(0, base64_chunk_bytes);
    part.resize((chunk.size() + 2) / 3 * 4 + 1); // with the terminating zero that OpenSSL writes
    const int size = EVP_EncodeBlock(octets(part), octets(chunk), static_cast<int>(chunk.size()));
    text.append(part, 0, static_cast<std::size_t>(size));
  }
  return text;
}

expected<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return fail(errc::malformed, "base64 of " + std::to_string(text.size()) +
                                     " characters; padded base64 has a multiple of 4");
  std::string bytes, part;
  for (auto rest = text; !rest.empty();
       rest.remove_prefix(std::min(base64_chunk_characters, rest.size()))) {
    const auto chunk = rest.substr(0, base64_chunk_characters);
    part.resize(chunk.size() / 4 * 3);
    if (EVP_DecodeBlock(octets(part), octets(chunk), static_cast<int>(chunk.size())) >= 0)
      bytes += part;
  }
  const auto padding = text.size() - (text.find_last_not_of('=') + 1);
  bytes.resize(bytes.size() - std::min(padding, bytes.size()));
  // OpenSSL also accepts blanks and stray bits, so compare the canonical form.
  if (padding <= 2 && encode_base64(bytes) == text) return bytes;
  return fail(errc::malformed, "base64 with a wrong character, or bits left over at its end");
}

} // namespace hearth::storage
