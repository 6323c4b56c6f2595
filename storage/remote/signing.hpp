// Signatures of entries in the remote tier. Pure functions over plain data, any thread. Secrets
// stand in no text that these return.
#pragma once

#include "messages/digest.hpp"
#include "storage/remote/envelope.hpp"
#include "storage/remote/envelope_codec.hpp"

#include <string>

namespace hearth::storage {

/// HMAC-SHA256 over label, algorithm, key id and digest, as docs/remote-format.md has it: 32 bytes.
std::string sign_digest(const digest& entry, const signing_key& key);

/// Whether one of `keys` signed that digest. Takes as long wherever a wrong signature differs.
bool is_signed_by(const signing_keys& keys, const envelope_signature& signature,
                  const digest& entry);

} // namespace hearth::storage
