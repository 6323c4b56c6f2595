// The members of `[upstream]`: the remote tier, by the names of docs/remote.md. Any thread.
#pragma once

#include "runtime/api/config.hpp"
#include "runtime/server/access/toml_members.hpp"

#include <span>

namespace hearth::server {

std::span<const toml_member<remote_config>> upstream_members() noexcept;

} // namespace hearth::server
