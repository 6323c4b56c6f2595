// The commands that the remote tier sends to a server of the Redis protocol. Pure functions.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace hearth::storage {

using remote_command = std::vector<std::string>;

remote_command ping_command();
remote_command get_command(std::string name);
/// SET; `only_new`: unless there is a value. A TTL of zero is for ever.
remote_command set_command(std::string name, std::string bytes, bool only_new,
                           std::chrono::milliseconds ttl);
remote_command erase_command(std::string name);

/// Takes a lease unless somebody has it: "OK", or null.
remote_command lease_command(std::string name, std::string token, std::chrono::milliseconds time);
/// Has a lease last for `time` from now, also when it had ended and nobody took it since: 1; 0 when
/// somebody else has it.
remote_command renew_command(std::string name, std::string token, std::chrono::milliseconds time);
/// Ends a lease unless somebody else has it by now: 1, or 0.
remote_command release_command(std::string name, std::string token);

} // namespace hearth::storage
