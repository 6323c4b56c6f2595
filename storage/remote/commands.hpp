// The commands that the remote tier sends to a server of the Redis protocol. Pure functions.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace hearth::storage {

using remote_command = std::vector<std::string>;

remote_command ping_command();
remote_command get_command(std::string name);
/// SET; `only_new`: only when the name has no value. A TTL of zero means no expiry.
remote_command set_command(std::string name, std::string bytes, bool only_new,
                           std::chrono::milliseconds ttl);
remote_command erase_command(std::string name);

/// Takes a lease unless it is held. Reply: "OK", or null.
remote_command lease_command(std::string name, std::string token, std::chrono::milliseconds time);
/// Makes a lease last for `time` from now, even one that expired and is free. Reply: 1; 0 when
/// another holder has it.
remote_command renew_command(std::string name, std::string token, std::chrono::milliseconds time);
/// Ends a lease unless another holder has it by now. Reply: 1, or 0.
remote_command release_command(std::string name, std::string token);

} // namespace hearth::storage
