// `hearth serve` and clients that know leases: HEARTH.ACQUIRE, HEARTH.FULFIL and HEARTH.ABANDON
// over real connections, some of them of processes that are killed.
#include "tests/support/running_server.hpp"
#include "tests/support/shell_script.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace serve_leases_test {

using namespace hearth::test;

namespace {

// A server for writers on TCP, and for readers on the Unix socket `readers` in `work`.
std::string settings_in(const temporary_directory& work, const std::string& hold) {
  std::ofstream(work / "serve.toml")
      << "[hold]\n"
      << hold
      << "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\nanonymous = \"writer\"\n"
         "[[listen]]\nprotocol = \"resp\"\naddress = \"unix:"
      << (work / "readers").string() << "\"\nanonymous = \"reader\"\n";
  return (work / "serve.toml").string();
}

const std::string prelude = R"(
import redis, subprocess, sys, threading
port, readers = int(sys.argv[1]), sys.argv[2]
watch = redis.Redis(port=port)
def connect(): return redis.Redis(port=port, single_connection_client=True)
def acquire(client, key): return client.execute_command('HEARTH.ACQUIRE', key)
def fulfil(client, key, value): return client.execute_command('HEARTH.FULFIL', key, value)
def abandon(client, key): return client.execute_command('HEARTH.ABANDON', key)
# An acquire that runs beside this thread, until `join` returns its answer.
class Waiting:
    def __init__(self, key):
        self.client, self.answers = connect(), []
        self.thread = threading.Thread(target=lambda: self.answers.append(acquire(self.client, key)))
        self.thread.start()
    def join(self):
        self.thread.join()
        return self.answers[0]
def held(count):
    while watch.info()['hearth_held_misses'] != count: pass
)";

// Runs a Python script with the server's addresses; returns what it printed.
std::string answers_to(const running_server& server, const temporary_directory& work,
                       const std::string& script, const std::string& more = {}) {
  std::ofstream(work / "clients.py") << prelude << script;
  return output_of("/usr/bin/python3 '" + (work / "clients.py").string() + "' " +
                   std::to_string(server.port("resp")) + " '" + (work / "readers").string() + "' " +
                   more);
}

// The times are longer than a test may take: what ends a wait is never the clock.
constexpr auto no_end = "wait = \"1h\"\nholder = \"1h\"\n";

} // namespace

TEST_CASE("serve: of eight clients that acquire a key at once, one makes the value") {
  const temporary_directory work;
  const running_server server({settings_in(work, no_end)});
  CHECK(answers_to(server, work, R"(
start = threading.Barrier(8)
made, got = [], []
def client(number):
    own = connect()
    start.wait()
    found = acquire(own, 'k')
    if found is None:
        held(7)
        made.append(number)
        assert fulfil(own, 'k', 'made by %d' % number) == 1
    else:
        got.append(found)
threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
for one in threads: one.start()
for one in threads: one.join()
print(len(made), len(got), set(got) == {b'made by %d' % made[0]})
)") == "1 7 True\n");
}

TEST_CASE("serve: the end of a holder's process gives its lease to one that waits") {
  const temporary_directory work;
  const running_server server({settings_in(work, no_end)});
  CHECK(answers_to(server, work, R"(
holder = subprocess.Popen([sys.executable, '-c', '''
import redis, sys
own = redis.Redis(port=int(sys.argv[1]), single_connection_client=True)
print(own.execute_command('HEARTH.ACQUIRE', 'k'), flush=True)
sys.stdin.read()
''', str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(holder.stdout.readline().strip())
one, other = Waiting('k'), Waiting('k')
held(2)
holder.kill()
held(1)
while not one.answers and not other.answers: pass
heir, last = (one, other) if one.answers else (other, one)
print(heir.join())
print(abandon(heir.client, 'k'), last.join())
print(fulfil(heir.client, 'k', 'late'), fulfil(last.client, 'k', 'v'), acquire(heir.client, 'k'))
)") == "None\nNone\n1 None\n0 1 b'v'\n");
}

TEST_CASE("serve: a holder that never answers costs a client that waits its time, and no lease") {
  const temporary_directory work;
  const running_server server({settings_in(work, "wait = \"50ms\"\nholder = \"1h\"\n")});
  CHECK(answers_to(server, work, R"(
holder, other = connect(), connect()
print(acquire(holder, 'k'), acquire(other, 'k'))
print(fulfil(other, 'k', 'not its own'), abandon(other, 'k'))
print(fulfil(holder, 'k', 'v'), acquire(other, 'k'))
)") == "None None\n0 0\n1 b'v'\n");
}

TEST_CASE("serve: a lease that its holder keeps too long goes to one that waits") {
  const temporary_directory work;
  const running_server server({settings_in(work, "wait = \"1h\"\nholder = \"50ms\"\n")});
  CHECK(answers_to(server, work, R"(
holder, other = connect(), connect()
print(acquire(holder, 'k'), acquire(other, 'k'))
print(fulfil(holder, 'k', 'late'))
)") == "None None\n0\n");
}

TEST_CASE("serve: a reader gets no lease, and reads what writers made") {
  const temporary_directory work;
  const running_server server({settings_in(work, no_end)});
  CHECK(answers_to(server, work, R"(
reader, writer = redis.Redis(unix_socket_path=readers), connect()
for command in ['HEARTH.ACQUIRE', 'k'], ['HEARTH.FULFIL', 'k', 'v'], ['HEARTH.ABANDON', 'k']:
    try: print(reader.execute_command(*command))
    except redis.exceptions.NoPermissionError: print('refused')
print(acquire(writer, 'k'), reader.get('k'), fulfil(writer, 'k', 'v'), reader.get('k'))
)") == "refused\nrefused\nrefused\nNone None 1 b'v'\n");
}

TEST_CASE("serve: a held miss ends with any store of its key, by the holder or by others") {
  const temporary_directory work;
  std::ofstream(work / "serve.toml")
      << "[hold]\n"
      << no_end << "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n"
      << "hold_misses = true\n[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n"
      << "hold_misses = true\n";
  const running_server server({(work / "serve.toml").string()});
  CHECK(answers_to(server, work, R"(
import http.client
http_port = int(sys.argv[3])
def run(*command): return lambda client, key: client.execute_command(command[0], key, *command[1:])
stores = {
    'SET NX': run('SET', 'v', 'NX'), 'SET GET': run('SET', 'v', 'GET'),
    'SET KEEPTTL': run('SET', 'v', 'KEEPTTL'), 'SET': run('SET', 'v'),
    'SETNX': run('SETNX', 'v'), 'MSET': run('MSET', 'v'), 'GETSET': run('GETSET', 'v'),
    'SETEX': run('SETEX', '90', 'v'),
}
class Get(Waiting):
    def __init__(self, key):
        self.client, self.answers = connect(), []
        self.thread = threading.Thread(target=lambda: self.answers.append(self.client.get(key)))
        self.thread.start()
def check(name, key, store):
    holder = connect()
    assert holder.get(key) is None
    waiting = Get(key)
    held(1)
    store(holder)
    assert waiting.join() == b'v', (name, key)
for name, store in stores.items():
    check(name, name + ' own', lambda holder: store(holder, name + ' own'))
    check(name, name + ' other', lambda holder: store(watch, name + ' other'))
class HttpGet(Get):
    def __init__(self, path):
        self.client, self.answers = http.client.HTTPConnection('127.0.0.1', http_port), []
        self.thread = threading.Thread(target=self.run, args=(path,))
        self.thread.start()
    def run(self, path):
        self.client.request('GET', path)
        self.answers.append(self.client.getresponse().read())
holder, other = HttpGet('/k'), http.client.HTTPConnection('127.0.0.1', http_port)
holder.join()
waiting = HttpGet('/k')
held(1)
other.request('PUT', '/k', b'v')
assert other.getresponse().status == 201
assert waiting.join() == b'v'
print('all')
)",
                   std::to_string(server.port("http"))) == "all\n");
}

} // namespace serve_leases_test
