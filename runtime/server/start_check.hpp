// What a start of the server reads, for `hearth serve --check`. Pure but for the files that it
// reads; any thread.
#pragma once

#include "messages/error.hpp"
#include "runtime/server/settings/server_settings.hpp"

namespace hearth::server {

/// Reads what `server::start` reads: users, certificates, the upstream's files and the store, which
/// it does not make. It does not listen and asks no upstream. Errors: those of a start.
expected<void> check_start(const server_settings& settings);

} // namespace hearth::server
