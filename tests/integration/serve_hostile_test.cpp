// `hearth serve` and clients that mean harm: they stall, flood, announce what they do not send, and
// guess passwords. Others are served meanwhile, and memory stays bounded.
#include "tests/support/running_server.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/shell_script.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace serve_hostile_test {

using namespace hearth::test;

namespace {

// Runs a Python script with the ports of the server as its arguments; returns what it printed.
std::string attack(const running_server& server, const std::string& script) {
  const temporary_directory scratch;
  std::ofstream(scratch / "attack.py") << script;
  return output_of("/usr/bin/python3 '" + (scratch / "attack.py").string() + "' " +
                   std::to_string(server.port("resp")) + " " + std::to_string(server.port("http")));
}

const std::string prelude = R"(
import redis, socket, sys, time
resp_port, http_port = int(sys.argv[1]), int(sys.argv[2])
def connect(port):
    s = socket.create_connection(('127.0.0.1', port))
    s.settimeout(60)
    return s
def rest(s):
    all = b''
    while True:
        try: part = s.recv(65536)
        except ConnectionResetError: return all
        if not part: return all
        all += part
friend = redis.Redis(port=resp_port)
)";

// A settings file with small limits.
std::filesystem::path settings_in(const temporary_directory& work, const std::string& limits,
                                  const std::string& top = "") {
  std::ofstream(work / "serve.toml")
      << top
      << "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n"
         "[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n"
      << "[limits]\n"
      << limits;
  return work / "serve.toml";
}

} // namespace

TEST_CASE("serve: a client that ends its input gets the replies to what it sent") {
  const temporary_directory work;
  running_server server({settings_in(work, "").string()});
  CHECK(attack(server, prelude + R"(
for i in range(50):
    key = b'k%d' % i
    s = connect(resp_port)
    s.sendall(b'SET %s one\r\nSET other two\r\nGET %s\r\nSET %s three\r\nGET' % (key, key, key))
    s.shutdown(socket.SHUT_WR)
    assert rest(s) == b'+OK\r\n+OK\r\n$3\r\none\r\n+OK\r\n', i
    assert friend.get(key) == b'three'
    s = connect(http_port)
    s.sendall(b'PUT /%s HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc' % key)
    s.shutdown(socket.SHUT_WR)
    assert rest(s).startswith(b'HTTP/1.1 20'), i
# What waits for others is not waited for.
s = connect(resp_port)
s.sendall(b'XREAD BLOCK 0 STREAMS nothing $\r\n')
s.shutdown(socket.SHUT_WR)
assert rest(s) == b''
print('all right')
)") == "all right\n");
}

TEST_CASE("serve: a peer that stalls is ended, one that waits between requests is not") {
  const temporary_directory work;
  running_server server({settings_in(work, "request_time = \"1s\"\n").string()});
  CHECK(attack(server, prelude + R"(
idle = connect(resp_port)
idle.sendall(b'PING\r\n')
assert idle.recv(100) == b'+PONG\r\n'
stalled = [connect(resp_port) for _ in range(20)] + [connect(http_port) for _ in range(20)]
for s in stalled[:20]: s.sendall(b'*2\r\n$3\r\nGET\r\n$100\r\nabc')
for s in stalled[20:]: s.sendall(b'PUT /k HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc')
for s in stalled: assert rest(s) == b''
# One that does not read is ended, too.
friend.set('large', b'v' * (8 << 20))
deaf = connect(resp_port)
deaf.sendall(b'*2\r\n$3\r\nGET\r\n$5\r\nlarge\r\n' * 10)
while friend.info()['connected_clients'] > 2: pass
idle.sendall(b'PING\r\n')
assert idle.recv(100) == b'+PONG\r\n'
print('all right')
)") == "all right\n");
}

TEST_CASE("serve: memory stays bounded whatever clients announce, send or do not read") {
  const temporary_directory work;
  running_server server({settings_in(work,
                                     "value_bytes = \"32MiB\"\nreceiving_bytes = \"64MiB\"\n"
                                     "sending_bytes = \"64MiB\"\noutput_bytes = \"64KiB\"\n",
                                     "memory_budget = \"32MiB\"\n")
                             .string()});
  // A sanitizer keeps freed memory for a while.
  const auto bound = std::string("bound = ") + (is_sanitized ? "2000" : "480");
  const auto out = attack(server, prelude + bound + R"(
pid = friend.info()['process_id']
def resident():
    for line in open(f'/proc/{pid}/status'):
        if line.startswith('VmHWM:'): return int(line.split()[1]) >> 10
before = resident()
friend.set('large', b'v' * (16 << 20))
announced = [connect(resp_port) for _ in range(100)]
for s in announced: s.sendall(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$33554432\r\n' + b'x' * 1000)
items = [connect(resp_port) for _ in range(100)]
for s in items: s.sendall(b'*60000\r\n' + b'$0\r\n\r\n' * 5000)
deaf = [connect(resp_port) for _ in range(100)]
for s in deaf: s.sendall(b'*2\r\n$3\r\nGET\r\n$5\r\nlarge\r\n' * 100)
bodies = [connect(http_port) for _ in range(100)]
for s in bodies: s.sendall(b'PUT /k HTTP/1.1\r\nHost: x\r\nContent-Length: 33000000\r\n\r\n' + b'x' * 1000)
many = connect(resp_port)
many.sendall(b'*10001\r\n$4\r\nMGET\r\n' + b'$5\r\nlarge\r\n' * 10000)
assert many.recv(8) == b'*10000\r\n'
large = connect(resp_port)
large.sendall(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$33554432000\r\n')
assert b'Protocol error' in rest(large)
times = []
for i in range(500):
    begin = time.monotonic()
    friend.set(f'k{i}', i)
    assert friend.get(f'k{i}') == str(i).encode()
    times.append(time.monotonic() - begin)
times.sort()
print(f'p99 of a set and a get {times[494] * 1000:.1f} ms, resident {before} then {resident()} MiB')
# Budgets of 32 + 64 + 64 MiB, what 400 connections keep, and the code.
assert resident() < bound, resident()
for s in announced + items + deaf + bodies + [many, large]: s.close()
assert friend.ping()
)");
  MESSAGE(out);
}

TEST_CASE("serve: a thousand misses are held, one more is not, and all get the value") {
  const temporary_directory work;
  std::ofstream(work / "serve.toml")
      << "[hold]\nwait = \"4min\"\nholder = \"4min\"\n"
         "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\nhold_misses = true\n"
         "[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n";
  running_server server({(work / "serve.toml").string()});
  const auto out = attack(server, prelude + R"(
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
holder, other = redis.Redis(port=resp_port), redis.Redis(port=resp_port)
process = other.info()['process_id']
def resident():
    with open(f'/proc/{process}/status') as lines:
        return int(next(line for line in lines if line.startswith('VmRSS')).split()[1]) // 1024
assert holder.get('k') is None
before = resident()
def ask():
    one = socket.create_connection(('127.0.0.1', resp_port))
    one.sendall(b'*2\r\n$3\r\nGET\r\n$1\r\nk\r\n')
    return one
held = [ask() for _ in range(1000)]
while other.info()['hearth_held_misses'] < 1000: pass
assert other.get('k') is None
after = resident()
assert holder.set('k', 'v' * 100)
want = b'$100\r\n' + b'v' * 100 + b'\r\n'
for one in held:
    got = b''
    while len(got) < len(want):
        part = one.recv(4096)
        assert part
        got += part
    assert got == want, got
print(f'resident {before} then {after} MiB; all have it')
)");
  MESSAGE(out);
  CHECK(out.ends_with("all have it\n"));
}

TEST_CASE("serve: more connections than allowed are refused, and there is room again later") {
  const temporary_directory work;
  running_server server({settings_in(work, "connections = 10\n").string()});
  CHECK(attack(server, prelude + R"(
held = [connect(resp_port) for _ in range(10)]
for s in held:
    s.sendall(b'PING\r\n')
    assert s.recv(100) == b'+PONG\r\n'
assert rest(connect(resp_port)) == b''
assert rest(connect(http_port)) == b''
held.pop().close()
for _ in range(1000):
    s = connect(resp_port)
    try:
        s.sendall(b'PING\r\n')
        if s.recv(100) == b'+PONG\r\n': break
    except ConnectionError: pass
else: raise SystemExit('no room again')
print('all right')
)") == "all right\n");
}

TEST_CASE("serve: guesses of passwords are refused, and users who were right go on") {
  const temporary_directory work;
  const auto hashed = [&] {
    std::ofstream(work / "password") << "right\n";
    return program_run({"serve", "--hash-password"}, work.path(), {}, work / "password").wait();
  }();
  REQUIRE(hashed.status == 0);
  std::ofstream(work / "users.toml")
      << "[users.u]\nrole = \"writer\"\npassword = \"" << lines_of(hashed.out).front() << "\"\n";
  std::filesystem::permissions(work / "users.toml", std::filesystem::perms::owner_read);
  std::ofstream(work / "serve.toml")
      << "users = \"users.toml\"\n[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n"
         "[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n";
  running_server server({(work / "serve.toml").string()});
  CHECK(attack(server, prelude + R"(
known = redis.Redis(port=resp_port, username='u', password='right')
assert known.set('k', 'v')
wrong = limited = 0
for i in range(14):
    try: redis.Redis(port=resp_port, username='u', password=f'guess{i}').ping()
    except redis.ResponseError as e:
        wrong += 'WRONGPASS' in str(e)
        limited += 'minute' in str(e)
assert wrong >= 10 and limited >= 1, (wrong, limited)
assert redis.Redis(port=resp_port, username='u', password='right').get('k') == b'v'
print('all right')
)") == "all right\n");
}

} // namespace serve_hostile_test
