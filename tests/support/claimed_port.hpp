// A TCP port of this machine for a server of a test.
#pragma once

#include "runtime/os/files/descriptor.hpp"

#include <cstdint>

namespace hearth::test {

/// A port of 127.0.0.1 that no other process gets while this lives: neither one that asks for any
/// free port, nor a connection for its own end. The server listens there with SO_REUSEADDR, and may
/// end and start again; in between, connections are refused. A port that is merely free may be
/// taken by the very connection that is made to it, which then speaks to itself.
class claimed_port {
public:
  claimed_port();
  std::uint16_t number() const { return number_; }

private:
  os::descriptor socket_;
  std::uint16_t number_ = 0;
};

} // namespace hearth::test
