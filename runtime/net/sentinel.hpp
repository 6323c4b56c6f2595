// Asks sentinels of Redis where the master is that they watch.
#pragma once

#include "runtime/net/name_lookup.hpp"
#include "runtime/net/remote_endpoint.hpp"
#include "runtime/net/tls_context.hpp"

namespace hearth::net {

/// A resolver that gives the addresses of the master whom the sentinels of `endpoint` name; what it
/// is asked for does not matter. It asks one sentinel after the other, half a second each, those
/// last that told nothing in the last minute, and blocks meanwhile. A sentinel that wants
/// credentials gets those of the endpoint, and is spoken to with TLS if the master is; `tls` is
/// null without. `resolve` finds the addresses of hosts. Source: the guidelines for clients of
/// Redis Sentinel.
name_resolver master_resolver(const remote_endpoint& endpoint, tls_context tls,
                              name_resolver resolve);

} // namespace hearth::net
