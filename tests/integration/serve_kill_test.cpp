// `hearth serve` that is killed while clients write: what it has acknowledged is there afterwards.
#include "tests/support/files.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/shell_script.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace serve_kill_test {

using namespace hearth::test;

namespace {

// load.py PORT STATE ROUND PID: looks at every key that STATE names. Then, unless PID is 0, four
// connections set and drop keys until the server, which is killed meanwhile, is gone. A key's state
// is a list of the values that it may have: one that was acknowledged, and those whose answer never
// came. A client that pipelines has several of these. Beside it, all connections add fields to
// one hash and entries to one stream: those that were acknowledged are all there, in order.
constexpr auto load_script = R"py(
import json, os, random, redis, signal, sys, threading

port, state_file, round_number, server = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
state = json.load(open(state_file)) if os.path.exists(state_file) else {}
fields = state.pop('fields', [])  # acknowledged, as the entries
entries = state.pop('entries', [])
sizes = [0, 1, 100, 5000, 20000, 70000, 300000]

def value_of(seed):  # by its number; no number: there is none
    if seed is None: return None
    size = sizes[seed % len(sizes)]
    return (str(seed).encode() * (size // len(str(seed)) + 1))[:size]

r = redis.Redis(port=port)
for key, may in state.items():
    got = r.get(key)
    fits = [seed for seed in may if value_of(seed) == got]
    if not fits:
        sys.exit(f'{key}: {None if got is None else got[:20]}, not one of {may}')
    state[key] = fits[:1]
found = r.hgetall('hash')
lost = [one for one in fields if one.encode() not in found]
if lost: sys.exit(f'fields are gone: {lost[:5]}')
logged = r.xrange('log')
places = [tuple(map(int, id.decode().split('-'))) for id, _ in logged]
if places != sorted(set(places)): sys.exit('ids do not grow')
ids = {id.decode() for id, _ in logged}
lost = [one for one in entries if one not in ids]
if lost: sys.exit(f'entries are gone: {lost[:5]}')
if server == 0:
    print(f'{len(state)} keys are right')
    sys.exit()

choice = random.Random(round_number)
kill_after = choice.randrange(50, 1500)
acknowledged = 0
lock = threading.Lock()

def write(name):
    global acknowledged
    own = random.Random(f'{round_number} {name}')
    client = redis.Redis(port=port, retry_on_error=[], retry_on_timeout=False)
    begun = []
    try:
        while True:
            pipe = client.pipeline(transaction=False)
            begun = []
            for _ in range(own.choice([1, 1, 1, 8])):
                key = f'{name}-{own.randrange(150)}'
                seed = None if own.randrange(8) == 0 else own.randrange(10**6)
                begun.append((key, seed))
                pipe.delete(key) if seed is None else pipe.set(key, value_of(seed))
            count = len(begun)
            pipe.execute()
            for key, seed in begun: state[key] = [seed]
            begun = []
            if own.randrange(4) == 0:
                field = f'{round_number}-{name}-{own.randrange(10**9)}'
                client.hset('hash', field, field)
                with lock: fields.append(field)
                added = client.xadd('log', {'by': name}).decode()
                with lock: entries.append(added)
            with lock:
                acknowledged += count
                if acknowledged - count < kill_after <= acknowledged: os.kill(server, signal.SIGKILL)
    except redis.ConnectionError:
        for key, seed in begun: state[key] = state.get(key, [None]) + [seed]

writers = [threading.Thread(target=write, args=(str(i),)) for i in range(4)]
for one in writers: one.start()
for one in writers: one.join()
if acknowledged < kill_after: sys.exit(f'the server was gone after {acknowledged}')
if not fields or not entries: sys.exit('nothing was added')
json.dump(state | {'fields': fields, 'entries': entries}, open(state_file, 'w'))
print('killed')
)py";

int rounds() {
  const auto* const asked = std::getenv("HEARTH_SERVE_KILLS");
  constexpr int usual = 4;
  return asked ? std::atoi(asked) : usual;
}

} // namespace

TEST_CASE("serve: what was acknowledged is there after a kill under load") {
  running_server server({"--listen", "resp=127.0.0.1:0"});
  const auto script = server.directory() / "load.py";
  std::ofstream(script) << load_script;
  const auto run_load = [&](int round, pid_t kills) {
    return output_of("/usr/bin/python3 '" + script.string() + "' " +
                     std::to_string(server.port("resp")) + " '" +
                     (server.directory() / "state").string() + "' " + std::to_string(round) + " " +
                     std::to_string(kills));
  };
  for (int round = 0; round < rounds(); ++round) {
    REQUIRE(run_load(round, server.pid()) == "killed\n");
    server.restart();
  }
  const auto looked = run_load(rounds(), 0);
  MESSAGE(looked);
  CHECK(looked.ends_with(" keys are right\n"));
  const auto verified =
      run_hearth({"verify", "--store", server.store().string()}, server.directory());
  CHECK_MESSAGE(verified.status == 0, verified.out);
}

} // namespace serve_kill_test
