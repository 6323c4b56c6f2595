#include "storage/resp/server_error.hpp"

#include <doctest/doctest.h>

namespace server_error_test {

using namespace hearth::storage;

TEST_CASE("the first word of a server's error gives its meaning") {
  CHECK(server_error_of("ERR Error running script (call to f_1): @user_script:1: -OOM command not "
                        "allowed when used memory > 'maxmemory'.") == server_error::no_writes);
  CHECK(server_error_of("OOM command not allowed when used memory > 'maxmemory'.") ==
        server_error::no_writes);
  CHECK(server_error_of("READONLY You can't write against a read only replica.") ==
        server_error::no_writes);
  CHECK(server_error_of("LOADING Redis is loading the dataset in memory") ==
        server_error::no_service);
  CHECK(server_error_of("NOAUTH Authentication required.") == server_error::no_rights);
  CHECK(server_error_of("NOPERM User x has no permissions to run the 'eval' command") ==
        server_error::forbidden);
  CHECK(server_error_of("WRONGTYPE Operation against a key holding the wrong kind of value") ==
        server_error::wrong_type);
  CHECK(server_error_of("ERR unknown command 'EVAL', with args beginning with: ") ==
        server_error::no_command);
  CHECK(server_error_of("ERR max number of clients reached") == server_error::no_service);
  CHECK(server_error_of("ERR syntax error") == server_error::other);
  CHECK(server_error_of("connection refused") == server_error::none);
  CHECK(server_error_of("") == server_error::none);
}

} // namespace server_error_test
