// `hearth serve` and clients that nobody changes: redis-cli, redis-benchmark, python3-redis, curl
// as Bazel's protocol, and ccache over Redis, a Unix socket and both layouts of HTTP.
#include "tests/support/files.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/shell_script.hpp"
#include "tests/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace serve_clients_test {

using namespace hearth::test;
namespace fs = std::filesystem;

namespace {

std::string resp_at(const std::string& place) { return "resp=" + place; }

// A C project of small files, each with its own headers.
void write_project(const fs::path& folder, int files) {
  fs::create_directories(folder);
  for (int i = 0; i < files; ++i) {
    const auto number = std::to_string(i);
    std::ofstream(folder / ("h" + number + ".h"))
        << "#pragma once\nstatic int value_" << i << " = " << i << ";\n";
    std::ofstream(folder / ("f" + number + ".c"))
        << "#include \"h" << number << ".h\"\n#include \"h0.h\"\nint f" << i
        << "(int x) { return x * value_" << i << " + value_0; }\n";
  }
}

// Builds every file of a project by ccache with this remote storage; the objects go to `out`.
std::string build_by_ccache(const fs::path& project, const fs::path& out, const fs::path& local,
                            const std::string& remote, const std::string& options = "") {
  return output_of("export CCACHE_DIR='" + local.string() + "' CCACHE_REMOTE_STORAGE='" + remote +
                   "' CCACHE_CONFIGPATH=/dev/null CCACHE_NOHASHDIR=1\n" + options + "\nmkdir -p '" +
                   out.string() + "'\ncd '" + project.string() +
                   "'\nls f*.c | xargs -P 4 -I {} ccache gcc -c {} -o '" + out.string() +
                   "/{}.o'\nccache --print-stats");
}

// A counter in what `ccache --print-stats` prints.
int counter(const std::string& stats, const std::string& name) {
  for (const auto& line : lines_of(stats))
    if (line.starts_with(name + "\t")) return std::stoi(line.substr(name.size() + 1));
  return 0;
}

} // namespace

TEST_CASE("serve: redis-cli sets, gets, lists and drops") {
  running_server server({"--listen", resp_at("127.0.0.1:0"), "--role", "admin"});
  const auto cli = "redis-cli -p " + std::to_string(server.port("resp")) + " ";
  CHECK(output_of(cli + "SET k value") == "OK\n");
  CHECK(output_of(cli + "GET k") == "value\n");
  CHECK(output_of(cli + "-3 GET none") == "\n");
  CHECK(output_of(cli + "SETEX temporary 100 x; " + cli + "TTL temporary") == "OK\n100\n");
  CHECK(output_of(cli + "--scan --pattern 'k*'") == "k\n");
  CHECK(output_of(cli + "DBSIZE") == "2\n");
  CHECK(output_of(cli + "INFO").find("redis_version:7.0.15") != std::string::npos);
  CHECK(output_of(cli + "FLUSHALL") == "OK\n");
  CHECK(output_of(cli + "DBSIZE") == "0\n");
  CHECK(output_of(cli + "--pipe < <(printf 'SET a 1\\r\\nSET b 2\\r\\n')")
            .find("errors: 0, replies: 2") != std::string::npos);
  const auto ended = server.end();
  CHECK_MESSAGE(ended.status == 0, ended.err);
}

TEST_CASE("serve: scans of thousands of keys find what stays, while others come and go") {
  running_server server({"--listen", resp_at("127.0.0.1:0"), "--role", "admin"});
  const auto port = std::to_string(server.port("resp"));
  // 6,000 keys stay; until the scans are done another client adds and drops others, so that the
  // store's index grows.
  const auto out = output_of(
      "/usr/bin/python3 - <<'END'\n"
      "import redis, subprocess, threading\n"
      "r = redis.Redis(port=" +
      port +
      ")\n"
      "stay = {b'stay:%d' % i for i in range(6000)}\n"
      "pipe = r.pipeline(transaction=False)\n"
      "for key in stay: pipe.set(key, 'x')\n"
      "pipe.set('gone', 'x', px=1)\n"
      "pipe.execute()\n"
      "done = threading.Event()\n"
      "def change():\n"
      "    other, n = redis.Redis(port=" +
      port +
      "), 0\n"
      "    while n < 30000 or not done.is_set():\n"
      "        pipe = other.pipeline(transaction=False)\n"
      "        for i in range(n, n + 200): pipe.set(b'other:%d' % i, b'y')\n"
      "        if n > 20000: pipe.delete(*(b'other:%d' % i for i in range(n - 20000, n - 19800)))\n"
      "        pipe.execute()\n"
      "        n += 200\n"
      "changer = threading.Thread(target=change)\n"
      "changer.start()\n"
      "for count in None, 1000:\n"
      "    seen = set(r.scan_iter(match='stay:*', count=count))\n"
      "    print(len(stay - seen), len(seen - stay))\n"
      "cli = subprocess.run(['redis-cli', '-p', '" +
      port +
      "', '--scan', '--pattern', 'stay:*'],\n"
      "                     capture_output=True, check=True).stdout.split()\n"
      "print(len(stay - set(cli)), len(set(cli) - stay))\n"
      "done.set(); changer.join()\n"
      "cursor, keys = r.scan(count=50)\n"
      "print(cursor != 0, 40 < len(keys) < 60)\n"
      "print(len(set(r.scan_iter(count=10000, _type='string')) & stay))\n"
      "print(list(r.scan_iter(_type='hash')), b'gone' in set(r.scan_iter()))\n"
      "END");
  CHECK(out == "0 0\n0 0\n0 0\nTrue True\n6000\n[] False\n");
}

TEST_CASE("serve: a password for all, given while it runs") {
  running_server server({"--listen", resp_at("127.0.0.1:0"), "--role", "admin"});
  const auto cli = "redis-cli -p " + std::to_string(server.port("resp")) + " --no-auth-warning ";
  CHECK(output_of(cli + "CONFIG SET requirepass foo") == "OK\n");
  CHECK(output_of(cli + "PING").starts_with("NOAUTH"));
  CHECK(output_of(cli + "-a wrong PING").find("NOAUTH") != std::string::npos);
  CHECK(output_of(cli + "-a foo SET k v") == "OK\n");
  CHECK(output_of(cli + "-a foo CONFIG SET requirepass ''") == "OK\n");
  CHECK(output_of(cli + "GET k") == "v\n");
}

TEST_CASE("serve: redis-benchmark's gets and sets, alone and pipelined") {
  running_server server({"--listen", resp_at("127.0.0.1:0")});
  for (const char* depth : {"1", "16"}) {
    const auto out = output_of("redis-benchmark -p " + std::to_string(server.port("resp")) +
                               " -t get,set,mset -n 2000 -r 500 -d 1000 -q -P " + depth);
    for (const char* name : {"GET: ", "SET: ", "MSET (10 keys): "})
      CHECK_MESSAGE(out.find(name) != std::string::npos, out);
    CHECK_MESSAGE(out.find("rror") == std::string::npos, out);
  }
}

TEST_CASE("serve: python3-redis, with pipelines, conditions and a large value") {
  running_server server({"--listen", resp_at("127.0.0.1:0")});
  const auto out =
      output_of("/usr/bin/python3 - <<'END'\n"
                "import redis\n"
                "r = redis.Redis(port=" +
                std::to_string(server.port("resp")) +
                ")\n"
                "value = bytes(range(256)) * 40000\n"
                "assert r.set(b'\\x00\\xff', value)\n"
                "assert r.get(b'\\x00\\xff') == value\n"
                "assert r.get('none') is None\n"
                "assert r.set('x', '1', nx=True) and r.set('x', '2', nx=True) is None\n"
                "pipe = r.pipeline(transaction=False)\n"
                "for i in range(1000): pipe.set(f'k{i}', i)\n"
                "for i in range(1000): pipe.get(f'k{i}')\n"
                "got = pipe.execute()\n"
                "assert got == [True] * 1000 + [str(i).encode() for i in range(1000)]\n"
                "assert r.mget('k1', 'none', 'k2') == [b'1', None, b'2']\n"
                "assert r.expire('k1', 100) and r.ttl('k1') == 100\n"
                "assert r.delete('k1', 'k2') == 2\n"
                "try: r.lpush('list', 1); raise SystemExit('lpush did not fail')\n"
                "except redis.ResponseError as e: assert 'unknown command' in str(e)\n"
                "try: r.flushall(); raise SystemExit('flushall did not fail')\n"
                "except redis.ResponseError as e: assert 'permissions' in str(e), e\n"
                "print('all right')\n"
                "END\n");
  CHECK(out == "all right\n");
}

TEST_CASE("serve: curl as Bazel's protocol, and as plain files") {
  running_server server({"--listen", "http=127.0.0.1:0"});
  const auto at = "http://127.0.0.1:" + std::to_string(server.port("http"));
  const auto curl = std::string("curl -sS -o /dev/null -w '%{http_code}\\n' ");
  CHECK(output_of("digest=$(printf hello | sha256sum | cut -c1-64)\n" + curl +
                  "--data-binary hello -X PUT " + at + "/p/cas/$digest\n" + curl +
                  "--data-binary other -X PUT " + at + "/p/cas/$digest\ncurl -sS " + at +
                  "/p/cas/$digest; echo\n" + curl + at +
                  "/q/cas/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n" +
                  curl + "--data-binary result -X PUT " + at + "/p/ac/$digest\ncurl -sS " + at +
                  "/p/ac/$digest; echo\n" + curl + at + "/other/ac/$digest") ==
        "201\n400\nhello\n200\n201\nresult\n404\n");
  CHECK(output_of(curl + "-T /etc/services " + at + "/some/file\ncurl -sS " + at +
                  "/some/file | cmp - /etc/services && echo same\n" + curl + "-I " + at +
                  "/some/file\n" + curl + "-r 5-9 " + at + "/some/file\n" + curl + "-X DELETE " +
                  at + "/some/file\n" + curl + at + "/some/file\n" + curl + at + "/healthz\n" +
                  curl + at + "/metrics\n" + curl + at + "/") ==
        "201\nsame\n200\n206\n204\n404\n200\n200\n200\n");
}

TEST_CASE("serve: ccache compiles a project once for all hosts, over each of its remotes") {
  const temporary_directory work;
  running_server server({"--listen", resp_at("127.0.0.1:0"), "--listen", "http=127.0.0.1:0",
                         "--listen", resp_at("unix:" + (work / "sock").string())});
  const auto port = std::to_string(server.port("resp"));
  const auto http = "http://127.0.0.1:" + std::to_string(server.port("http"));
  constexpr int files = 50;
  int number = 0;
  for (const auto& remote :
       {"redis://127.0.0.1:" + port + "/3", "redis+unix:" + (work / "sock").string(),
        http + "/plain", http + "/bazel|layout=bazel"}) {
    CAPTURE(remote);
    const auto folder = work / std::to_string(++number);
    write_project(folder / "project", files);
    output_of("cd '" + (folder / "project").string() +
              "'; mkdir ../plain; for f in f*.c; do gcc -c $f -o ../plain/$f.o; done");
    const auto cold = build_by_ccache(folder / "project", folder / "cold", folder / "a", remote);
    CHECK(counter(cold, "cache_miss") == files);
    const auto warm = build_by_ccache(folder / "project", folder / "warm", folder / "b", remote);
    CHECK(counter(warm, "cache_miss") == 0);
    CHECK(counter(warm, "direct_cache_hit") == files);
    const auto alone = build_by_ccache(folder / "project", folder / "only", folder / "c", remote,
                                       "export CCACHE_REMOTE_ONLY=1");
    CHECK(counter(alone, "cache_miss") == 0);
    for (const char* built : {"cold", "warm", "only"})
      CHECK(output_of("diff -r '" + (folder / "plain").string() + "' '" +
                      (folder / built).string() + "' && echo same") == "same\n");
  }
  const auto ended = server.end();
  CHECK_MESSAGE(ended.status == 0, ended.err);
}

TEST_CASE("serve: of eight compiles by ccache at once, one compiles") {
  const temporary_directory work;
  running_server server({"--listen", resp_at("127.0.0.1:0"), "--hold-misses"});
  write_project(work / "project", 2);
  // A compiler that notes each compile, and takes its time.
  std::ofstream(work / "slow-gcc")
      << "#!/bin/sh\ncase \"$*\" in *-c*) echo x >> '" << (work / "log").string()
      << "'; sleep 0.5;; esac\nexec gcc \"$@\"\n";
  fs::permissions(work / "slow-gcc", fs::perms::owner_all);
  const auto remote = "redis://127.0.0.1:" + std::to_string(server.port("resp"));
  const auto ratio = output_of(
      "cd '" + (work / "project").string() + "'\nexport CCACHE_REMOTE_STORAGE='" + remote +
      "' CCACHE_CONFIGPATH=/dev/null CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 "
      "CCACHE_COMPILERTYPE=gcc CCACHE_COMPILERCHECK=none\n"
      "compile() { CCACHE_DIR='" +
      (work / "local").string() + "'$2 ccache '" + (work / "slow-gcc").string() +
      "' -MD -c $1 -o o$2.o; }\n"
      "a=$(date +%s%N); compile f1.c 0; b=$(date +%s%N)\n"
      "for i in 1 2 3 4 5 6 7 8; do compile f0.c $i & done; wait\nc=$(date +%s%N)\n"
      "for i in 2 3 4 5 6 7 8; do cmp o1.o o$i.o; done\n"
      "echo $(((c - b) * 100 / (b - a)))");
  MESSAGE("eight at once took this many hundredths of the time of one: ", ratio);
  CHECK(lines_of(file_text(work / "log")).size() == 2);
}

TEST_CASE("serve: wrong settings are refused in one line") {
  const temporary_directory work;
  std::ofstream(work / "bad.toml") << "[[listen]]\nprotocol = \"resp\"\naddres = \"127.0.0.1:0\"\n";
  const auto store = (work / "store").string();
  const auto refused =
      run_hearth({"serve", "--store", store, (work / "bad.toml").string()}, work.path());
  CHECK(refused.status == 2);
  CHECK_MESSAGE(lines_of(refused.err).size() == 1, refused.err);
  CHECK(refused.err.find("bad.toml:3: ") != std::string::npos);
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"serve"},
           {"serve", "--listen", "127.0.0.1:0"},
           {"serve", "--listen", "gopher=127.0.0.1:0"},
           {"serve", "--listen", "resp=127.0.0.1"},
           {"serve", "--listen", "resp=127.0.0.1:0", "--role", "king"},
           {"serve", "--listen", "resp=0.0.0.0:0"},
           {"serve", "--listen", "http=[::]:0", "--hold-misses"}}) {
    auto all = arguments;
    all.insert(all.end(), {"--store", store});
    const auto result = run_hearth(all, work.path());
    CHECK_MESSAGE(result.status == 2, result.err);
    CHECK_MESSAGE(lines_of(result.err).size() == 1, result.err);
  }
  const auto fault_of = [&](const std::vector<std::string>& arguments) {
    return run_hearth(arguments, work.path()).err;
  };
  CHECK(fault_of({"serve", "--listen", "resp=127.0.0.1:0", "--role", "king"})
            .starts_with("hearth: --role king: "));
  CHECK(fault_of({"serve", "--listen", "resp=0.0.0.0:0"})
            .starts_with("hearth: --listen resp=0.0.0.0:0: other hosts reach this address"));
  CHECK(fault_of({"serve", "--listen", "foo=127.0.0.1:0"})
            .starts_with("hearth: --listen foo=127.0.0.1:0: protocol: 'foo' is unknown"));
  CHECK(fault_of({"serve", "--listen", "resp=127.0.0.1:0", "--listen", "resp=127.0.0.1:99999"})
            .starts_with("hearth: --listen resp=127.0.0.1:99999: address: "));
  for (const auto* const role : {"reader", "writer", "admin"})
    CHECK(fault_of({"serve", "--check", "--listen", "resp=0.0.0.0:0", "--role", role}).empty());
  std::ofstream(work / "good.toml")
      << "[[listen]]\nprotocol = \"resp\"\naddress = \"127.0.0.1:0\"\n";
  for (const auto& option : {"--role=reader", "--hold-misses"}) { // the file says it
    const auto both =
        run_hearth({"serve", "--check", (work / "good.toml").string(), option}, work.path());
    CHECK(both.status == 2);
    CHECK_MESSAGE(lines_of(both.err).size() == 1, both.err);
  }
  const auto right = run_hearth({"serve", "--check", (work / "good.toml").string()}, work.path());
  CHECK(right.status == 0);
  CHECK(right.out == "the settings are right\n");
}

TEST_CASE(
    "serve: a socket's relative path is one of the working folder, or of the settings file's") {
  const temporary_directory work;
  const auto folder = fs::relative(work.path());
  REQUIRE(folder.is_relative());
  std::ofstream(work / "s.toml") << "[[listen]]\nprotocol = \"resp\"\naddress = \"unix:s.sock\"\n";
  for (const auto& arguments :
       {std::vector<std::string>{"--listen", "resp=unix:" + (folder / "s.sock").string()},
        std::vector<std::string>{(folder / "s.toml").string()}}) {
    const running_server server(arguments);
    CHECK(output_of("redis-cli -s '" + (work / "s.sock").string() + "' ping") == "PONG\n");
  }
}

} // namespace serve_clients_test
