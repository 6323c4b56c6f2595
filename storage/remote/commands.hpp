// The commands that the remote tier sends to a server of the Redis protocol. Pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hearth::storage {

using remote_command = std::vector<std::string>;

remote_command ping_command();
remote_command get_command(std::string name);
/// The first bytes of a value. Reply: up to `bytes` of them, none when there is no value.
remote_command get_start_command(std::string name, std::size_t bytes);
/// SET; `only_new`: only when the name has no value. A TTL of zero means no expiry.
remote_command set_command(std::string name, std::string bytes, bool only_new,
                           std::chrono::milliseconds ttl);
remote_command erase_command(std::string name);
/// Removes an entry and the set that has the same key.
remote_command erase_command(std::string name, std::string set);

/// A field of a hash and its bytes.
using remote_field = std::pair<std::string, std::string>;
/// Every field of a hash. Reply: names and bytes in turn, or nothing.
remote_command get_fields_command(std::string name);
/// Adds fields to a hash, and makes the hash last for `ttl` from now; zero: for ever. With a TTL
/// the server must run EVAL.
remote_command add_fields_command(std::string name, std::vector<remote_field> fields,
                                  std::chrono::milliseconds ttl);
remote_command remove_fields_command(std::string name, std::vector<std::string> fields);

/// Takes a lease unless it is held. Reply: "OK", or null.
remote_command lease_command(std::string name, std::string token, std::chrono::milliseconds time);
/// Makes a lease last for `time` from now, even one that expired and is free. Reply: 1; 0 when
/// another holder has it.
remote_command renew_command(std::string name, std::string token, std::chrono::milliseconds time);
/// Asks how long a name still lives. Reply: milliseconds; -1: for ever; -2: there is no such name.
remote_command lifetime_command(std::string name);
/// Gives a name that much longer to live. Reply: 1; 0 when there is no such name.
remote_command expire_command(std::string name, std::chrono::milliseconds time);
/// Ends a lease unless another holder has it by now. Reply: 1, or 0.
remote_command release_command(std::string name, std::string token);

/// Whether a server whose memory is full refuses this write.
bool needs_memory(const remote_command& write);

} // namespace hearth::storage
