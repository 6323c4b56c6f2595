// One connection to a server of the Redis protocol, from its start to its end: it is used once and
// then replaced. Lives on the connections' thread.
#pragma once

#include "runtime/net/connection_problem.hpp"
#include "runtime/net/name_lookup.hpp"
#include "runtime/net/transport.hpp"
#include "storage/resp/resp_handshake.hpp"
#include "storage/resp/resp_parser.hpp"
#include "storage/resp/resp_writer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hearth::net {

/// The owner of a connection, which receives its events.
class connection_owner {
public:
  virtual void connection_ready() = 0;
  /// Receives a reply, in the order of the commands.
  virtual void connection_replied(storage::resp_value reply) = 0;
  /// The connection ended by itself; no other call follows.
  virtual void connection_ended(connection_problem problem) = 0;

protected:
  ~connection_owner() = default;
};

class redis_connection : public std::enable_shared_from_this<redis_connection> {
public:
  redis_connection(boost::asio::io_context& loop, const remote_endpoint& endpoint, tls_context tls,
                   connection_owner& owner);

  /// Connects to one of the addresses and greets.
  void start(host_addresses addresses);
  /// Ends the connection before it is open, for instance without an address.
  void fail(connection_problem problem) { end(std::move(problem)); }

  bool is_ready() const noexcept { return ready_; }
  /// Queues a command; only when ready. `flush` sends all queued commands in one write.
  void add(std::vector<std::string> arguments) { waiting_.add(std::move(arguments)); }
  void flush();
  /// Closes it without telling the owner.
  void abandon();

private:
  void read();
  void take_replies();
  void take_greeting(const storage::resp_value& reply);
  void greet();
  void end(connection_problem problem);

  const remote_endpoint& endpoint_;
  connection_owner* owner_; // null once it has ended
  transport transport_;
  storage::resp_handshake handshake_;
  storage::resp_parser parser_;
  storage::resp_writer waiting_;
  storage::resp_writer sending_; // not touched while a write runs
  bool writing_ = false;
  bool ready_ = false;
};

} // namespace hearth::net
