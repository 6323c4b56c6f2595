// `hearth serve` as its operator sees it: TLS and client certificates, users read again while it
// runs, the end, and an upstream that stalls.
#include "tests/support/certificates.hpp"
#include "tests/support/files.hpp"
#include "tests/support/local_redis.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/shell_script.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace serve_operation_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

const std::string redis = "/usr/bin/python3 -c 'import redis,sys\n"
                          "r = redis.Redis(port=int(sys.argv[1]), username=sys.argv[2] or None, "
                          "password=sys.argv[3] or None)\n"
                          "try: print(eval(sys.argv[4]))\n"
                          "except redis.RedisError as e: print(str(e).split()[0])' ";

void write_users(const fs::path& file, const fs::path& work, const std::string& password,
                 const std::string& role = "writer") {
  std::ofstream(work / "password") << password << "\n";
  const auto hash =
      program_run({"serve", "--hash-password"}, work, {}, work / "password").wait().out;
  fs::remove(file);
  std::ofstream(file) << "[users.u]\nrole = \"" << role << "\"\npassword = \""
                      << lines_of(hash).front() << "\"\n";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

} // namespace

TEST_CASE("serve: a password for all is refused where it would guard nothing, or not one thing") {
  const temporary_directory work;
  write_users(work / "users.toml", work.path(), "secret", "admin");
  const auto answer_of = [&](const std::string& settings, const std::string& user) {
    std::ofstream(work / "serve.toml") << settings;
    const running_server server({(work / "serve.toml").string()});
    const auto port = std::to_string(server.port("resp"));
    return output_of("redis-cli --no-auth-warning -p " + port + ' ' + user +
                     " CONFIG SET requirepass foo; redis-cli --no-auth-warning -p " + port + ' ' +
                     user + " PING");
  };
  const std::string listener = "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n";
  CHECK(answer_of("users = \"users.toml\"\n" + listener, "--user u --pass secret")
            .starts_with("ERR no listener lets clients in without credentials"));
  const auto two =
      answer_of(listener + "anonymous = \"admin\"\n" + listener + "anonymous = \"reader\"\n", "");
  CHECK_MESSAGE(two.starts_with("ERR the listeners let clients"), two);
  CHECK_MESSAGE(lines_of(two).back() == "PONG", two);
}

TEST_CASE("serve: a password for all that could not be set does not count later") {
  const temporary_directory work;
  write_users(work / "users.toml", work.path(), "old");
  std::ofstream(work / "serve.toml") << "users = \"users.toml\"\n[[listen]]\nprotocol = \"resp\"\n"
                                        "address = \"127.0.0.1:0\"\nanonymous = \"admin\"\n";
  running_server server({(work / "serve.toml").string()});
  const auto port = std::to_string(server.port("resp"));
  const auto set_password = "redis-cli -p " + port + " CONFIG SET requirepass foo";
  std::ofstream(work / "users.toml") << "[users.u]\nrole = \"king\"\n";
  CHECK(output_of(set_password).starts_with("ERR "));
  write_users(work / "users.toml", work.path(), "new");
  server.signal(SIGHUP);
  const auto ask = [&](const std::string& user, const std::string& password) {
    return output_of(redis + port + " '" + user + "' " + password + " 'r.ping()'");
  };
  while (ask("u", "new") != "True\n")
    ;
  CHECK(ask("default", "foo") == "WRONGPASS\n");
  CHECK(output_of("redis-cli -p " + port + " PING") == "PONG\n");
  CHECK(output_of(set_password) == "OK\n");
  CHECK(ask("default", "foo") == "True\n");
}

TEST_CASE("serve: --check refuses what a start would, and makes nothing") {
  const temporary_directory work;
  const std::string listener = "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n";
  const auto check = [&](const std::string& settings) {
    std::ofstream(work / "serve.toml") << settings;
    return run_hearth({"serve", "--check", (work / "serve.toml").string()}, work.path());
  };
  // The words that both the check and the start say, in one line.
  const auto check_fault = [&](const std::string& settings, const std::string& words) {
    CAPTURE(settings);
    const auto checked = check(settings);
    const auto started = run_hearth({"serve", (work / "serve.toml").string()}, work.path());
    CHECK(checked.out.empty());
    CHECK_MESSAGE(lines_of(checked.err).size() == 1, checked.err);
    CHECK_MESSAGE(checked.err.find(words) != std::string::npos, checked.err);
    CHECK(checked.status == started.status);
    CHECK(started.err == checked.err);
  };
  const std::string store = "store = \"made\"\n"; // by the starts
  CHECK(check("store = \"new/store\"\n" + listener).out == "the settings are right\n");
  CHECK_FALSE(fs::exists(work / "new"));
  check_fault("users = \"users.toml\"\n" + store + listener, "users.toml");
  std::ofstream(work / "users.toml") << "[users.u]\nrole = \"king\"\n";
  fs::permissions(work / "users.toml", fs::perms::owner_read | fs::perms::owner_write);
  check_fault("users = \"users.toml\"\n" + store + listener, "users.toml:2: ");
  check_fault(store + listener + "certificate_file = \"no.pem\"\nkey_file = \"no.key\"\n",
              "no.pem");
  check_fault("store = \"/dev/null\"\n" + listener, "/dev/null is a symbolic link or no directory");
  std::ofstream(work / "file") << "";
  check_fault("store = \"file/store\"\n" + listener, "file/store");
  fs::create_directory(work / "open");
  fs::permissions(work / "open", fs::perms::all);
  check_fault("store = \"open\"\n" + listener, "is open to other users");
  // A server starts without an upstream that it cannot use.
  const auto upstream = check("store = \"new/store\"\n" + listener +
                              "[upstream]\nremote = \"redis://127.0.0.1:1\"\n"
                              "remote_signing_keys = \"no.keys\"\n");
  CHECK(upstream.status != 0);
  CHECK_MESSAGE(upstream.err.find("no.keys") != std::string::npos, upstream.err);
  CHECK_FALSE(fs::exists(work / "new"));
}

TEST_CASE("serve: over TLS, with and without certificates of clients") {
  const temporary_directory work;
  certificate_authority ca(work.path(), "ca");
  const auto own = ca.issue("server", "DNS:localhost,IP:127.0.0.1");
  const auto client = ca.issue("client", "DNS:client");
  const auto tls = "certificate_file = \"" + own.certificate.string() + "\"\nkey_file = \"" +
                   own.key.string() + "\"\n";
  std::ofstream(work / "serve.toml")
      << "[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n"
      << tls << "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n"
      << tls << "client_ca_file = \"" << ca.file().string() << "\"\n";
  running_server server({(work / "serve.toml").string()});
  const auto curl = "curl -sS --cacert '" + ca.file().string() +
                    "' https://127.0.0.1:" + std::to_string(server.port("http"));
  CHECK(output_of("head -c 3000000 /dev/urandom > '" + (work / "data").string() + "'\n" + curl +
                  "/large -T '" + (work / "data").string() + "'\n" + curl + "/large | cmp - '" +
                  (work / "data").string() + "' && echo same") == "same\n");
  const auto cli = "redis-cli --tls --cacert '" + ca.file().string() + "' -p " +
                   std::to_string(server.port("resp"));
  CHECK(output_of(cli + " PING 2>&1 || true").find("PONG") == std::string::npos);
  CHECK(output_of(cli + " --cert '" + client.certificate.string() + "' --key '" +
                  client.key.string() + "' PING") == "PONG\n");
}

TEST_CASE("serve: an option of the command line overrules the settings file") {
  const temporary_directory work;
  std::ofstream(work / "serve.toml")
      << "store = \"store of the file\"\ndisk_budget = \"80MiB\"\nmemory_budget = \"9MiB\"\n"
         "[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n"
         "[upstream]\nremote = \"redis://of-the-file.invalid:1\"\n";
  // `running_server` gives --store.
  running_server server({(work / "serve.toml").string(), "--disk-budget", "48MiB",
                         "--memory-budget", "3MiB", "--remote", "redis://given.invalid:2"});
  CHECK(output_of("curl -sS http://127.0.0.1:" + std::to_string(server.port("http")) +
                  "/status.json | /usr/bin/python3 -c 'import json,sys\n"
                  "t = json.load(sys.stdin)[\"tiers\"]\n"
                  "print(t[\"disk\"][\"budget_bytes\"], t[\"memory\"][\"budget_bytes\"], "
                  "t[\"upstream\"][\"name\"])'") ==
        std::to_string(48u << 20) + " " + std::to_string(3u << 20) + " redis://given.invalid:2\n");
  CHECK(fs::exists(server.store()));
  CHECK_FALSE(fs::exists(work / "store of the file"));
}

TEST_CASE("serve: a client's certificate names its user") {
  const temporary_directory work;
  certificate_authority ca(work.path(), "ca");
  const auto own = ca.issue("server", "IP:127.0.0.1");
  std::ofstream(work / "users.toml")
      << "[users.builder]\nrole = \"writer\"\n[users.watcher]\nrole = \"reader\"\n";
  fs::permissions(work / "users.toml", fs::perms::owner_read | fs::perms::owner_write);
  std::ofstream(work / "serve.toml")
      << "users = \"users.toml\"\n[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n"
      << "certificate_file = \"" << own.certificate.string() << "\"\nkey_file = \""
      << own.key.string() << "\"\nclient_ca_file = \"" << ca.file().string()
      << "\"\ncertificate_users = true\n";
  running_server server({(work / "serve.toml").string()});
  const auto ask = [&](const std::string& name, const std::string& rest) {
    const auto files = ca.issue(name, "DNS:" + name);
    return output_of("curl -sS -o /dev/null -w '%{http_code}' --cacert '" + ca.file().string() +
                     "' --cert '" + files.certificate.string() + "' --key '" + files.key.string() +
                     "' https://127.0.0.1:" + std::to_string(server.port("http")) + rest);
  };
  CHECK(ask("builder", "/k -T /etc/hostname") == "201");
  CHECK(ask("watcher", "/k") == "200");
  CHECK(ask("watcher", "/k -T /etc/hostname") == "403");
  CHECK(ask("watcher", "/metrics") == "403");
  CHECK(ask("stranger", "/k") == "401");
  const auto ended = server.end();
  CHECK_MESSAGE(ended.err.find("names no user") != std::string::npos, ended.err);
}

TEST_CASE("serve: limits are read again at SIGHUP, and connections stay") {
  const temporary_directory work;
  const auto write_settings = [&](const std::string& bytes) {
    std::ofstream(work / "serve.toml")
        << "log = \"debug\"\n[limits]\nvalue_bytes = \"" << bytes
        << "\"\n[[listen]]\nprotocol = \"http\"\naddress = \"127.0.0.1:0\"\n";
  };
  write_settings("1KiB");
  running_server server({(work / "serve.toml").string()});
  // One connection, which stays open, and another one for each try.
  std::ofstream(work / "ask.py")
      << "import http.client, os, signal, sys\n"
         "def put(at):\n"
         "    at.request('PUT', '/k', b'x' * 5000)\n"
         "    answer = at.getresponse()\n"
         "    answer.read()\n"
         "    return answer.status\n"
         "connect = lambda: http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))\n"
         "assert put(connect()) == 413\n"
         "kept = connect()\n"
         "kept.request('GET', '/k')\n"
         "assert kept.getresponse().read() is not None\n"
         "socket = kept.sock\n"
         "os.rename('new.toml', 'serve.toml')\n"
         "os.kill(int(sys.argv[2]), signal.SIGHUP)\n"
         "while put(connect()) != 201: pass\n"
         "assert put(kept) == 201 and kept.sock is socket\n"
         "print('stays')\n";
  fs::rename(work / "serve.toml", work / "old.toml");
  write_settings("8KiB");
  fs::rename(work / "serve.toml", work / "new.toml");
  fs::rename(work / "old.toml", work / "serve.toml");
  CHECK(output_of("cd '" + work.path().string() + "'; /usr/bin/python3 ask.py " +
                  std::to_string(server.port("http")) + " " + std::to_string(server.pid())) ==
        "stays\n");
  const auto ended = server.end();
  CHECK_MESSAGE(ended.err.find("http put: done for anonymous at 127.0.0.1, 5000 bytes in") !=
                    std::string::npos,
                ended.err);
  CHECK(ended.err.find("http put: refused for anonymous") != std::string::npos);
}

TEST_CASE("serve: users are read again at SIGHUP, and a wrong file changes nothing") {
  const temporary_directory work;
  write_users(work / "users.toml", work.path(), "old");
  std::ofstream(work / "serve.toml") << "users = \"users.toml\"\n[[listen]]\nprotocol = \"resp\"\n"
                                        "address = \"127.0.0.1:0\"\n";
  running_server server({(work / "serve.toml").string()});
  const auto ask = [&](const std::string& password) {
    return output_of(redis + std::to_string(server.port("resp")) + " u " + password +
                     " 'r.ping()'");
  };
  CHECK(ask("old") == "True\n");
  CHECK(ask("new") == "WRONGPASS\n");
  write_users(work / "users.toml", work.path(), "new");
  server.signal(SIGHUP);
  // The new password counts once the file was read.
  while (ask("new") != "True\n")
    ;
  CHECK(ask("old") == "WRONGPASS\n");
  std::ofstream(work / "users.toml") << "[users.u]\nrole = \"king\"\n";
  server.signal(SIGHUP);
  CHECK(ask("new") == "True\n");
  const auto ended = server.end();
  CHECK(ended.status == 0);
}

TEST_CASE("serve: at the end a client that waits is told, and what was stored is there") {
  const temporary_directory work;
  running_server server({"--listen", "resp=127.0.0.1:0", "--hold-misses"});
  const auto port = std::to_string(server.port("resp"));
  // One holds the key, one waits for it; the end of the server answers that one with a miss.
  std::ofstream(work / "wait.py")
      << "import redis, os, signal, threading\n"
         "port = "
      << port
      << "\nholder, waiter, other = (redis.Redis(port=port) for _ in range(3))\n"
         "assert holder.get('k') is None\nassert other.set('stored', 'v')\n"
         "pid = other.info()['process_id']\n"
         "answers = []\n"
         "thread = threading.Thread(target=lambda: answers.append(waiter.get('k')))\n"
         "thread.start()\n"
         "while other.info()['hearth_held_misses'] < 1: pass\n"
         "os.kill(pid, signal.SIGTERM)\nthread.join()\nassert answers == [None], answers\n"
         "print('told')\n";
  CHECK(output_of("/usr/bin/python3 '" + (work / "wait.py").string() + "'") == "told\n");
  const auto ended = server.end();
  CHECK_MESSAGE(ended.status == 0, ended.err);
  server.start();
  CHECK(output_of("redis-cli -p " + std::to_string(server.port("resp")) + " GET stored") == "v\n");
}

TEST_CASE(
    "serve: local hits go on while an upstream stalls or is gone, and after a stall it is used") {
  local_redis upstream;
  running_server first({"--listen", "resp=127.0.0.1:0", "--remote", upstream.url()});
  running_server second({"--listen", "resp=127.0.0.1:0", "--remote", upstream.url()});
  const auto cli = [](const running_server& at, const std::string& words) {
    return output_of("redis-cli -p " + std::to_string(at.port("resp")) + " " + words);
  };
  const auto arrives = [&](const std::string& key, const std::string& value) {
    for (int i = 0; i < 1000; ++i)
      if (cli(second, "GET " + key) == value + "\n") return true;
    return false;
  };
  // The median time of a hit from the local tiers, in us.
  const auto hit_time = [&] {
    return std::stod(
        output_of("/usr/bin/python3 - <<'END'\nimport redis, time\nr = redis.Redis(port=" +
                  std::to_string(first.port("resp")) +
                  ")\ntimes = []\nfor _ in range(2000):\n"
                  "    begin = time.perf_counter()\n    assert r.get('k') == b'one'\n"
                  "    times.append(time.perf_counter() - begin)\n"
                  "print(sorted(times)[1000] * 1e6)\nEND\n"));
  };
  CHECK(cli(first, "SET k one") == "OK\n");
  CHECK(arrives("k", "one"));
  const auto with_upstream = hit_time();
  upstream.freeze();
  CHECK(cli(first, "SET local two") == "OK\n");
  CHECK(cli(first, "GET local") == "two\n");
  CHECK(cli(first, "GET k") == "one\n");
  CHECK(cli(second, "GET local") == "\n");
  MESSAGE("a hit takes ", with_upstream, " us, while the upstream stalls ", hit_time(), " us");
  upstream.thaw();
  CHECK(cli(first, "SET late three") == "OK\n");
  CHECK(arrives("late", "three"));
  upstream.kill();
  CHECK(cli(first, "GET k") == "one\n");
  CHECK(cli(second, "SET alone four") == "OK\n");
  CHECK(cli(second, "GET alone") == "four\n");
}

} // namespace serve_operation_test
